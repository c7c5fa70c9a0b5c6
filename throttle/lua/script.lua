-- One claim, whole: settlements, a verdict, and the calls that want to go, in
-- one atomic step. These files are one script, in the order of script.go, and
-- the pure core in Lua, function by function: each names the Go file that it
-- is the twin of. Change both.
--
-- KEYS[1]   the budget's record
-- KEYS[2]   the account's record
-- KEYS[3+]  the records of the claim's credentials, then of its tenants
-- ARGV[1]   the claim, packed (wire.go); times in microseconds, all of them
--           remaining ones but for settlements, which name the server's own
-- ARGV[2]   the channel that notices go to
-- ARGV[3]   the claim once more, if it is plain (plain.lua)
-- Output    the answer, packed as one flat array of integers (wire.go)
--
-- Records are packed arrays of integers. Every write sets an expiry that
-- outlives each instant in the record.
local floor, ceil, min, max, sqrt, huge = math.floor, math.ceil, math.min, math.max, math.sqrt, math.huge

local WINDOW, FIXED, LOG, HELD = 0, 1, 2, 5 -- algorithms; the others are buckets
local HELD_KEPT, HELD_LABEL = 30 * 1e6, 53
local WHOLE, LEVEL_FLOOR, MAX_WAIT, LOG_SLOTS, USED_CAP = 1000000, -4e15, 1e15, 1000, 4e15
local RAMP_MOST = 4503599627370496 -- calls, 2^52; from there on a ramp holds nobody back
local KEY_KEPT, MARGIN = 7 * 24 * 3600 * 1e6, 1e6
local SLOT_KEPT, SLOT_ANSWER, TICKET_KEPT, TICKET_LATE, TICKET_GONE, OWNER_BYTES = 600 * 1e6, 16, 250000, 50000, 5000, 8
local SLOT_MANY, SLOT_KEPT_OF_MANY, SLOT_ANSWER_KEPT = 64, 60 * 1e6, 10 * 1e6
local GRANTED, GRANTED_KEY, WAITS_ROOM, WAITS_PAUSE, DENIED_ROOM, DENIED_KEY, DENIED_MODEL = 0, 1, 2, 3, 4, 6, 7
local PAUSED_BIT = 4294967296 -- 2^32, lacksBudget
local ANY_PROBE = '*' -- of a key that was lost
local OK, BUSY, OVERLOADED, KEY_REFUSED, CREDIT, MODEL_DENIED, BAD_REQUEST = 0, 1, 2, 3, 4, 5, 6
local SCOPE_MODEL, SCOPE_KEY = 1, 2

local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local raw = redis.call('MGET', unpack(KEYS))
