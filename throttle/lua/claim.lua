-- The claim's arguments and the records. See wire.go and state.go.
local own, probe, every, dry, account, budget, fingerprints, models, limits, settles, verdict, runs, process, number, fixes,
  birth, knows_budget, knows_account, restore, lease, running, floors, states, per_tenant, tenants = unpack(cmsgpack.unpack(ARGV[1]))
local knows = { knows_budget, knows_account }
dry = dry == 1

-- Records. A record is {until, ramp, used, class, {counter...}, {model, until,
-- ...}, {slot...}, {ticket...}, epoch}; a slot is {process, number, at, answer,
-- charged by limit, and {name, charged by own limit, ...} where tenants were
-- charged}, a ticket {process, lane, since, turn, label, units, ...}.
-- What can't be read as a record is somebody else's, and counts as none.
local function read(raw)
  if not raw then return nil end
  local ok, v = pcall(cmsgpack.unpack, raw)
  if not ok or type(v) ~= 'table' then return nil end
  return v
end

local function load_record(raw)
  local v = read(raw)
  if not v or not v[9] or type(v[8]) ~= 'table' then
    return { stop = 0, ramp = 0, used = 0, class = 0, counts = {}, denied = {}, slots = {}, line = {}, epoch = '' }
  end
  return { stop = v[1], ramp = v[2], used = v[3], class = v[4], counts = v[5], denied = v[6], slots = v[7], line = v[8], epoch = v[9] }
end

local function load_key(raw)
  local v = read(raw)
  if not v or not v[6] then return { gen = 0, refused = 0, class = 0, next = 0, probe = '', began = 0 } end
  return { gen = v[1], refused = v[2], class = v[3], next = v[4], probe = v[5], began = v[6] }
end

local recs = { load_record(raw[1]), load_record(raw[2]) }
local keys = {}
for i = 1, #fingerprints do keys[i] = load_key(raw[i + 2]) end
