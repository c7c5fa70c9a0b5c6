-- One claim, whole: settlements, a verdict, and the calls that want to go, in
-- one atomic step. It is decide.go in Lua, function by function; change both.
--
-- KEYS[1]   the budget's record
-- KEYS[2]   the account's record
-- KEYS[3+]  the records of the claim's credentials
-- ARGV[1]   the claim, packed (wire.go); times in microseconds, all of them
--           remaining ones but for settlements, which name the server's own
-- ARGV[2]   the channel that notices go to
-- Output    the answer, packed as one flat array of integers (wire.go)
--
-- Records are packed arrays of integers. Every write sets an expiry that
-- outlives each instant in the record.
local floor, ceil, min, max, sqrt, huge = math.floor, math.ceil, math.min, math.max, math.sqrt, math.huge

local WINDOW, FIXED, LOG = 0, 1, 2 -- algorithms; the others are buckets
local WHOLE, LEVEL_FLOOR, MAX_WAIT, LOG_SLOTS, USED_CAP = 1000000, -4e15, 1e15, 1000, 4e15
local RAMP_MOST = 4503599627370496 -- calls, 2^52; from there on a ramp holds nobody back
local KEY_KEPT, MARGIN = 7 * 24 * 3600 * 1e6, 1e6
local SLOT_KEPT, SLOT_ANSWER, WAITS_KEPT = 600 * 1e6, 16, 600 * 1e6
local GRANTED, GRANTED_KEY, WAITS_ROOM, WAITS_PAUSE, DENIED_ROOM, DENIED_KEY, DENIED_MODEL = 0, 1, 2, 3, 4, 6, 7
local PAUSED_BIT = 4294967296 -- 2^32, lacksBudget
local OK, BUSY, OVERLOADED, KEY_REFUSED, CREDIT, MODEL_DENIED, BAD_REQUEST = 0, 1, 2, 3, 4, 5, 6
local SCOPE_MODEL, SCOPE_KEY = 1, 2

local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]

local own, probe, every, dry, account, budget, fingerprints, models, limits, settles, verdict, runs, process, number, fixes =
  unpack(cmsgpack.unpack(ARGV[1]))
dry = dry == 1

-- Records. A record is {until, ramp, used, class, {counter...}, {model, until,
-- ...}, {slot...}, until when somebody waits for room}; a slot is {process, number, at, answer, charged by limit}.
-- What can't be read as a record is somebody else's, and counts as none.
local function read(raw)
  if not raw then return nil end
  local ok, v = pcall(cmsgpack.unpack, raw)
  if not ok or type(v) ~= 'table' then return nil end
  return v
end

local function load_record(raw)
  local v = read(raw)
  if not v or type(v[5]) ~= 'table' or type(v[6]) ~= 'table' or type(v[7]) ~= 'table' then return { stop = 0, ramp = 0, used = 0, class = 0, counts = {}, denied = {}, slots = {}, waits = 0 } end
  return { stop = v[1], ramp = v[2], used = v[3], class = v[4], counts = v[5], denied = v[6], slots = v[7], waits = v[8] or 0 }
end

local function load_key(raw)
  local v = read(raw)
  if not v or not v[6] then return { gen = 0, refused = 0, class = 0, next = 0, probe = '', began = 0 } end
  return { gen = v[1], refused = v[2], class = v[3], next = v[4], probe = v[5], began = v[6] }
end

local raw = redis.call('MGET', unpack(KEYS))
local recs = { load_record(raw[1]), load_record(raw[2]) }
local keys = {}
for i = 1, #fingerprints do keys[i] = load_key(raw[i + 2]) end

-- An earlier arrival of the same claim. See slots.go.
local slot
if number > 0 then
  for _, s in ipairs(recs[1].slots) do
    if s[1] == process then slot = s end
  end
end
if slot and number <= slot[2] then
  if number < slot[2] then return redis.error_reply('STALE a later claim of this process came first') end
  if slot[4] == '' then return redis.error_reply("LOST the claim was applied, and its answer wasn't kept") end
  return slot[4]
end

-- The sliding window: counter {label, index, current, previous}. See window.go.
local function window_advance(c, s)
  local index = floor((now - s[5]) / s[4])
  if index <= c[2] then return end
  if index == c[2] + 1 then c[4] = c[3] else c[4] = 0 end
  c[2], c[3] = index, 0
end

local function window_start(c, s) return c[2] * s[4] + s[5] end

local function window_carried(previous, elapsed, per)
  return ceil(previous * (per - elapsed) / per)
end

local function window_used(c, s)
  return c[3] + window_carried(c[4], max(0, now - window_start(c, s)), s[4])
end

local function window_elapsed_for(previous, spare, per)
  if previous <= spare then return 0 end
  local elapsed = ceil(per - spare * per / previous)
  while elapsed > 0 and window_carried(previous, elapsed - 1, per) <= spare do elapsed = elapsed - 1 end
  while window_carried(previous, elapsed, per) > spare do elapsed = elapsed + 1 end
  return elapsed
end

local function window_room_at(c, s, amount, ahead, cost)
  local per, start, previous, current = s[4], window_start(c, s), c[4], c[3]
  local elapsed, older, old = max(0, now - start), -1, -1
  while current + ahead + cost > amount do
    local has = current + max(0, min(ahead, amount - current - window_carried(previous, per - 1, per)))
    ahead = ahead - (has - current)
    start, elapsed = start + per, 0
    if has == older and ahead > 2 * amount then
      local n = floor((ahead - 2 * amount) / (old + has))
      ahead, start = ahead - n * (old + has), start + 2 * n * per
    end
    older, old = old, has
    previous, current = has, 0
  end
  return start + max(elapsed, window_elapsed_for(previous, amount - current - ahead - cost, per))
end

local function window_settle(c, s, at, delta)
  local index = floor((at - s[5]) / s[4])
  if index >= c[2] then
    c[3] = min(USED_CAP, max(0, c[3] + delta))
  elseif index == c[2] - 1 then
    c[4] = min(USED_CAP, max(0, c[4] + delta))
  elseif delta > 0 then
    c[3] = min(USED_CAP, c[3] + delta)
  end
end

-- The fixed window: the sliding window's counter without the previous one.
-- See fixed.go.
local function fixed_advance(c, s)
  local index = floor((now - s[5]) / s[4])
  if index > c[2] then c[2], c[3] = index, 0 end
end

local function fixed_room_at(c, s, amount, need)
  local free = max(0, amount - c[3])
  if need <= free then return now end
  return window_start(c, s) + ceil((need - free) / amount) * s[4]
end

local function fixed_settle(c, s, at, delta)
  if floor((at - s[5]) / s[4]) >= c[2] or delta > 0 then c[3] = min(USED_CAP, max(0, c[3] + delta)) end
end

-- The sliding log: counter {label, 0, sum, slot number, units, ...}, oldest
-- slot first. See log.go.
local function log_width(per) return ceil(per / LOG_SLOTS) end
local function log_span(per) return ceil(per / log_width(per)) end

local function log_advance(c, s)
  local oldest = floor(now / log_width(s[4])) - log_span(s[4])
  local n = 4
  while c[n] and c[n] < oldest do
    c[3] = c[3] - c[n + 1]
    n = n + 2
  end
  if n == 4 then return end
  local size = #c
  for i = n, size do c[4 + i - n] = c[i] end
  for i = size - (n - 4) + 1, size do c[i] = nil end
end

local function log_room_at(c, s, amount, need)
  local width, span = log_width(s[4]), log_span(s[4])
  local rounds = ceil(need / amount) - 1
  need = need - rounds * amount
  local missing, at, i = c[3] + need - amount, now, 4
  while missing > 0 and c[i] do
    missing = missing - c[i + 1]
    at = (c[i] + span + 1) * width
    i = i + 2
  end
  if rounds == 0 then return max(now, at) end
  return (floor(max(now, at) / width) + rounds * (span + 1)) * width
end

local function log_take(c, s, units)
  local number, n = floor(now / log_width(s[4])), #c
  units = min(units, USED_CAP - c[3])
  if units <= 0 then return end
  c[3] = c[3] + units
  if n > 3 and c[n - 1] >= number then
    c[n] = c[n] + units
  else
    c[n + 1], c[n + 2] = number, units
  end
end

local function log_settle(c, s, at, delta)
  local number, i = floor(at / log_width(s[4])), #c - 1
  while i > 3 and c[i] > number do i = i - 2 end
  if i > 3 and c[i] == number then
    delta = min(max(delta, -c[i + 1]), USED_CAP - c[3])
    c[i + 1], c[3] = c[i + 1] + delta, c[3] + delta
    if c[i + 1] == 0 then
      table.remove(c, i)
      table.remove(c, i)
    end
  elseif delta > 0 then
    log_take(c, s, delta)
  end
end

-- The token bucket: five numbers from place o on: share, level, at, full,
-- amount. The counter is {label, whole bucket, shares...}. See bucket.go.
local function bucket_flow(elapsed, amount, per) return floor(elapsed * amount / per) end

-- bucket_advance reports whether the rate changed, which must be kept.
local function bucket_advance(c, o, amount, burst, per)
  if c[o + 4] == 0 then
    c[o + 1], c[o + 2], c[o + 3], c[o + 4] = burst, now, now, amount
    return false
  end
  local elapsed, changed = max(0, now - c[o + 2]), false
  if c[o + 4] ~= amount then
    c[o + 1] = c[o + 1] + bucket_flow(elapsed, c[o + 4], per)
    c[o + 2], c[o + 4], elapsed, changed = max(now, c[o + 2]), amount, 0, true
  end
  if c[o + 1] + bucket_flow(elapsed, amount, per) >= burst then
    local at = max(now, c[o + 2])
    c[o + 1], c[o + 2], c[o + 3] = burst, at, at
    return changed
  end
  local n = floor(elapsed / per)
  c[o + 1], c[o + 2] = c[o + 1] + n * amount, c[o + 2] + n * per
  return changed
end

local function bucket_has(c, o, per)
  return c[o + 1] + bucket_flow(max(0, now - c[o + 2]), c[o + 4], per)
end

local function bucket_room_at(c, o, per, need)
  if need <= bucket_has(c, o, per) then return now end
  local missing = need - c[o + 1]
  local elapsed = ceil(missing * per / c[o + 4])
  if elapsed >= MAX_WAIT then return now + MAX_WAIT end
  while elapsed > 0 and bucket_flow(elapsed - 1, c[o + 4], per) >= missing do elapsed = elapsed - 1 end
  while bucket_flow(elapsed, c[o + 4], per) < missing do elapsed = elapsed + 1 end
  return max(now, c[o + 2] + elapsed)
end

local function bucket_forgive(c, o, per, bottom)
  c[o + 1] = c[o + 1] + max(0, bottom - bucket_has(c, o, per))
end

local function bucket_take(c, o, per, units, bottom)
  c[o + 1] = c[o + 1] - units
  bucket_forgive(c, o, per, bottom)
end

local function bucket_settle(c, o, per, at, delta, burst, bottom)
  if delta > 0 then
    bucket_take(c, o, per, delta, bottom)
  elseif at >= c[o + 3] then
    c[o + 1] = c[o + 1] - delta
    bucket_advance(c, o, c[o + 4], burst, per)
  end
end

-- Counters, whatever their algorithm. A limit is {label, algorithm, amount,
-- per, offset, burst, then share, amount, burst by lane}.
local function share_of(c, share)
  for o = 7, #c, 5 do
    if c[o] == share then return o end
  end
  local o = #c + 1
  c[o], c[o + 1], c[o + 2], c[o + 3], c[o + 4] = share, 0, 0, 0, 0
  return o
end

local function counter_of(rec, s)
  for _, c in ipairs(rec.counts) do
    if c[1] == s[1] then return c end
  end
  local c
  if s[2] == LOG then
    c = { s[1], 0, 0 }
  elseif s[2] <= LOG then
    c = { s[1], 0, 0, 0 }
  else
    c = { s[1], WHOLE, 0, 0, 0, 0 }
  end
  rec.counts[#rec.counts + 1] = c
  return c
end

local function advance(rec, c, s)
  if s[2] == WINDOW then return window_advance(c, s) end
  if s[2] == FIXED then return fixed_advance(c, s) end
  if s[2] == LOG then return log_advance(c, s) end
  local changed = bucket_advance(c, 2, s[3], s[6], s[4])
  for l = 7, #s, 3 do
    if s[l] < WHOLE then
      local o = share_of(c, s[l])
      changed = bucket_advance(c, o, s[l + 1], s[l + 2], s[4]) or changed
      bucket_forgive(c, o, s[4], s[l + 2] - s[6])
    end
  end
  if changed then rec.dirty = true end
end

local function fit(c, s, lane, ahead, cost)
  local l = 7 + lane * 3
  if s[2] == WINDOW then return max(0, floor((s[l + 1] - window_used(c, s) - ahead) / cost)) end
  if s[2] <= LOG then return max(0, floor((s[l + 1] - c[3] - ahead) / cost)) end
  local n = floor((bucket_has(c, 2, s[4]) - ahead) / cost)
  if s[l] < WHOLE then n = min(n, floor((bucket_has(c, share_of(c, s[l]), s[4]) - ahead) / cost)) end
  return max(0, n)
end

local function room_at(c, s, lane, ahead, cost)
  local l, at, need = 7 + lane * 3, 0, ahead + cost
  if s[2] == WINDOW then
    at = window_room_at(c, s, s[l + 1], ahead, cost)
  elseif s[2] == FIXED then
    at = fixed_room_at(c, s, s[l + 1], need)
  elseif s[2] == LOG then
    at = log_room_at(c, s, s[l + 1], need)
  else
    at = bucket_room_at(c, 2, s[4], need)
    if s[l] < WHOLE then at = max(at, bucket_room_at(c, share_of(c, s[l]), s[4], need)) end
  end
  return min(at, now + MAX_WAIT)
end

-- each_share calls f once for each share below the whole, with its place in
-- the counter, its burst and the deepest debt that it may have.
local function each_share(c, s, f)
  local seen = {}
  for l = 7, #s, 3 do
    if s[l] < WHOLE and not seen[s[l]] then
      seen[s[l]] = true
      f(share_of(c, s[l]), s[l + 2], s[l + 2] - s[6])
    end
  end
end

local function take(c, s, units)
  if s[2] == LOG then return log_take(c, s, units) end
  if s[2] <= LOG then
    c[3] = c[3] + units
    return
  end
  bucket_take(c, 2, s[4], units, LEVEL_FLOOR)
  each_share(c, s, function(o, _, bottom) bucket_take(c, o, s[4], units, bottom) end)
end

local function settle(c, s, at, delta)
  if s[2] == WINDOW then return window_settle(c, s, at, delta) end
  if s[2] == FIXED then return fixed_settle(c, s, at, delta) end
  if s[2] == LOG then return log_settle(c, s, at, delta) end
  bucket_settle(c, 2, s[4], at, delta, s[6], LEVEL_FLOOR)
  each_share(c, s, function(o, burst, bottom) bucket_settle(c, o, s[4], at, delta, burst, bottom) end)
end

local function expires(c, s)
  if s[2] == WINDOW then return window_start(c, s) + 2 * s[4] end
  if s[2] == FIXED then return window_start(c, s) + s[4] end
  if s[2] == LOG then return c[3] > 0 and (c[#c - 1] + log_span(s[4]) + 1) * log_width(s[4]) or 0 end
  local at = bucket_room_at(c, 2, s[4], s[6])
  each_share(c, s, function(o, burst) at = max(at, bucket_room_at(c, o, s[4], burst)) end)
  return at
end

-- The ramp after a pause. See ramp.go.
local function ramp_offset(ramp, rate, k)
  if ramp <= 0 or k <= 0 or rate <= 0 then return 0 end
  return ceil(ramp * sqrt(2 * k / (rate * ramp)))
end

local function ramping(rec) return rec.stop > 0 and now < rec.stop + rec.ramp end

local function ramp_fit(rec, rate, ahead)
  if rec.stop > now then return 0 end
  if not ramping(rec) or rate <= 0 then return huge end
  local elapsed = now - rec.stop
  local x = elapsed / rec.ramp
  local k = floor(rate * rec.ramp * (x * x) / 2)
  if k >= RAMP_MOST then return huge end
  while ramp_offset(rec.ramp, rate, k + 1) <= elapsed do k = k + 1 end
  while k > 0 and ramp_offset(rec.ramp, rate, k) > elapsed do k = k - 1 end
  return max(0, k + 1 - rec.used - ahead)
end

local function turn_at(rec, rate, ahead)
  if rec.stop <= now and not ramping(rec) then return now end
  return max(now, rec.stop + min(rec.ramp, ramp_offset(rec.ramp, rate, rec.used + ahead)))
end

-- Notices: {kind, account, budget, key, model, left, ramp, class, gen, refused}.
local notices = {}
local function tell(kind, b, key, model, left, ramp, class, gen, refused)
  notices[#notices + 1] = cmsgpack.pack({ kind, account, b, key, model, left, ramp, class, gen, refused })
end

local function tell_key(i)
  local k = keys[i]
  local left = k.refused == 1 and max(0, k.next - now) or 0
  tell(2, '', fingerprints[i], '', left, 0, k.refused == 1 and k.class or 0, k.gen, k.refused)
end

-- Settlements.
local counts = {}
local function record_of(i) return i <= own and recs[1] or recs[2] end
for i, s in ipairs(limits) do
  local rec = record_of(i)
  counts[i] = counter_of(rec, s)
  advance(rec, counts[i], s)
end
local charged, changed = {}, false
for i = 1, #limits do charged[i] = 0 end

-- correct applies a settlement {at, calls, delta by limit}.
local function correct(st)
  for i, s in ipairs(limits) do
    local d = st[2 + i]
    if d ~= 0 then
      local rec = record_of(i)
      settle(counts[i], s, st[1], d)
      rec.dirty, changed = true, true
      if d < 0 then rec.freed = true end
    end
  end
  for _, rec in ipairs(recs) do
    if st[2] > 0 and ramping(rec) and st[1] >= rec.stop then
      rec.used = max(0, rec.used - st[2])
      rec.dirty = true
    end
  end
end

-- Fixes: {number, {settlement...}, spent by limit}. See slots.go.
local first = 1
if slot then
  for j, f in ipairs(fixes) do
    if f[1] == slot[2] and #slot - 4 == #limits then
      local st = { slot[3], 0 }
      for i = 1, #limits do st[2 + i] = f[2 + i] - slot[4 + i] end
      correct(st)
      first = j + 1
    end
  end
end
for j = first, #fixes do
  local st = { now, 0 }
  for i = 1, #limits do st[2 + i] = fixes[j][2 + i] end
  correct(st)
  for _, older in ipairs(fixes[j][2]) do correct(older) end
end
for _, st in ipairs(settles) do correct(st) end

-- The verdict: {class, scope, key, model, gen, probe, length, ramp}. See state.go.
local function denied_until(rec, model)
  for i = 1, #rec.denied, 2 do
    if rec.denied[i] == model then return rec.denied[i + 1], i end
  end
  return 0, #rec.denied + 1
end

if verdict then
  local class, scope, ki, model, gen, id, length, ramp = unpack(verdict)
  local k = keys[ki + 1]
  local holder = id ~= '' and id == k.probe
  if (class == BUSY or class == OVERLOADED) and (scope == SCOPE_MODEL or scope == SCOPE_KEY) then
    local rec = scope == SCOPE_MODEL and recs[1] or recs[2]
    if now + length > rec.stop then
      rec.stop, rec.ramp, rec.used, rec.class, rec.dirty = now + length, ramp, 0, class, true
      tell(1, scope == SCOPE_MODEL and budget or '', '', '', length, ramp, class, 0, 0)
    end
  elseif class == MODEL_DENIED and length > 0 then
    local name = models[model + 1]
    local stop, at = denied_until(recs[1], name)
    if now + length > stop then
      recs[1].denied[at], recs[1].denied[at + 1], recs[1].dirty = name, now + length, true
      tell(3, budget, '', name, length, 0, class, 0, 0)
    end
  elseif class == KEY_REFUSED or class == CREDIT then
    if k.refused == 1 and holder then
      k.next, k.class, k.probe, k.dirty = max(k.next, k.began + length), class, '', true
      tell_key(ki + 1)
    elseif k.refused == 0 and gen == k.gen then
      k.gen, k.refused, k.class, k.next, k.probe, k.began, k.dirty = k.gen + 1, 1, class, now + length, '', 0, true
      tell_key(ki + 1)
    end
  end
  if holder and (class == OK or class == BUSY or class == BAD_REQUEST or class == MODEL_DENIED) then
    k.gen, k.refused, k.class, k.next, k.probe, k.began, k.dirty = k.gen + 1, 0, 0, 0, '', 0, true
    tell_key(ki + 1)
  end
end

-- Runs: {lane, key, model, n, patience, mayProbe, hold, holds, pauses 1, 2,
-- cost by limit}. See decide.go.
local COST = 10
local ahead, ahead_ramp = {}, { 0, 0 }
for i = 1, #limits do ahead[i] = 0 end

local function rate_of(r)
  local rate = huge
  for i, s in ipairs(limits) do
    local cost = r[COST + i]
    if cost > 0 then rate = min(rate, s[3] / (cost * s[4])) end
  end
  return rate == huge and 0 or rate
end

local function run_fit(r, rate, n)
  for i, rec in ipairs(recs) do n = min(n, ramp_fit(rec, rate, ahead_ramp[i])) end
  for i, s in ipairs(limits) do
    local cost = r[COST + i]
    if cost > 0 and n > 0 then n = min(n, fit(counts[i], s, r[1], ahead[i], cost)) end
  end
  return n
end

local function run_take(r, n)
  for i, s in ipairs(limits) do
    local cost = r[COST + i]
    if cost > 0 then
      take(counts[i], s, n * cost)
      charged[i] = charged[i] + n * cost
      record_of(i).dirty, changed = true, true
    end
  end
  for _, rec in ipairs(recs) do
    if ramping(rec) then rec.used, rec.dirty = rec.used + n, true end
  end
end

-- run_turn returns code, limit, lacks, wait of the run's next call, and adds
-- what it lacks to what is ahead if it waits.
local function run_turn(r, rate)
  local at, code, limit, lacks, lacking = now, WAITS_ROOM, 0, 0, {}
  local ramps = {}
  for i, rec in ipairs(recs) do
    local turn = turn_at(rec, rate, ahead_ramp[i])
    if turn > now then
      lacks, ramps[i] = lacks + PAUSED_BIT * i, true
      if turn > at then at, code = turn, WAITS_PAUSE end
    end
  end
  for i, s in ipairs(limits) do
    local cost = r[COST + i]
    if cost > 0 and fit(counts[i], s, r[1], ahead[i], cost) < 1 then
      lacks, lacking[i] = lacks + 2 ^ (i - 1), cost
      local most = s[7 + r[1] * 3 + (s[2] <= LOG and 1 or 2)]
      local turn = now + MAX_WAIT -- what is larger than its ceiling never fits
      if cost <= most then turn = room_at(counts[i], s, r[1], ahead[i], cost) end
      if turn > at then at, code, limit = turn, WAITS_ROOM, i - 1 end
    end
  end
  local wait = max(1, at - now)
  if wait > r[5] then return code + (DENIED_ROOM - WAITS_ROOM), limit, lacks, wait end
  for i, cost in pairs(lacking) do
    local rec, stop = record_of(i), now + min(r[5], WAITS_KEPT)
    ahead[i] = ahead[i] + cost
    if stop > rec.waits then rec.waits, rec.dirty = stop, true end
  end
  for i in pairs(ramps) do ahead_ramp[i] = ahead_ramp[i] + 1 end
  return code, limit, lacks, wait
end

local out = {}
local function say(code, n, limit, lacks, wait)
  local o = #out
  out[o + 1], out[o + 2], out[o + 3], out[o + 4], out[o + 5] = code, n, limit, lacks, wait
end

-- A run's first call as the probe of its refused key, if it may be. One that
-- holds the probe already goes under the same identity.
local function start_probe(r, k)
  if recs[1].stop > now or recs[2].stop > now then return false end
  if r[8] ~= '' and r[8] == k.probe then
    run_take(r, 1)
    return true
  end
  if r[6] ~= 1 or probe == '' or k.next > now then return false end
  k.probe, k.began, k.next, k.dirty = probe, now, now + every, true
  run_take(r, 1)
  tell_key(r[2] + 1)
  return true
end

local function judge(r)
  local left, k = r[4], keys[r[2] + 1]
  if k.refused == 1 then
    if start_probe(r, k) then
      say(GRANTED_KEY, 1, 0, 0, 0)
      left = left - 1
    end
    if left > 0 then say(DENIED_KEY, left, 0, 0, max(0, k.next - now, recs[1].stop - now, recs[2].stop - now)) end
    return
  end
  local stop = denied_until(recs[1], models[r[3] + 1])
  if stop > now then return say(DENIED_MODEL, left, 0, 0, stop - now) end
  local rate = rate_of(r)
  while left > 0 do
    local n = run_fit(r, rate, left)
    if n > 0 then
      run_take(r, n)
      left = left - n
      say(GRANTED, n, 0, 0, 0)
    else
      local code, limit, lacks, wait = run_turn(r, rate)
      if code >= DENIED_ROOM then return say(code, left, limit, lacks, wait) end
      say(code, 1, limit, lacks, wait)
      left = left - 1
    end
  end
end

for _, r in ipairs(runs) do
  if r[7] == 1 then
    for i = 1, #limits do ahead[i] = ahead[i] + r[COST + i] end
    ahead_ramp[1], ahead_ramp[2] = ahead_ramp[1] + r[9], ahead_ramp[2] + r[10]
  else
    judge(r)
  end
end

for i, rec in ipairs(recs) do
  if rec.freed and rec.waits > now then tell(4, i == 1 and budget or '', '', '', 0, 0, 0, 0, 0) end
end

-- Writing back, with an expiry that outlives every instant in the record.
-- Counters and denials that no longer matter are left out. A counter of
-- another configuration is kept for as long as its window can matter.
local function save_record(i, rec)
  local stop, counters, denied = rec.stop > 0 and rec.stop + rec.ramp or 0, {}, {}
  for _, c in ipairs(rec.counts) do
    local at
    for j, s in ipairs(limits) do
      if counts[j] == c then at = expires(c, s) end
    end
    if not at then
      local per, algorithm = floor(c[1] / 64), c[1] % 8
      if algorithm == LOG then
        at = (c[#c - 1] + log_span(per) + 1) * log_width(per)
      elseif algorithm <= FIXED then
        at = (c[2] + 3) * per
      else
        at = c[4] + 8 * per
      end
    end
    if at > now then
      stop, counters[#counters + 1] = max(stop, at), c
    end
  end
  for j = 1, #rec.denied, 2 do
    if rec.denied[j + 1] > now then
      stop = max(stop, rec.denied[j + 1])
      denied[#denied + 1], denied[#denied + 2] = rec.denied[j], rec.denied[j + 1]
    end
  end
  local value = cmsgpack.pack({ rec.stop, rec.ramp, rec.used, rec.class, counters, denied, rec.slots, rec.waits })
  redis.call('SET', KEYS[i], value, 'PX', ceil((max(stop, now) - now + MARGIN) / 1000))
end

-- The answer: now; left, ramp, used, class of the budget and the account; gen,
-- refused, class, next of each key; then code, n, limit, lacks, wait of each
-- outcome, in the order of the runs' calls.
local head = { now }
for _, rec in ipairs(recs) do
  local shut = rec.stop > now or ramping(rec)
  local o = #head
  head[o + 1] = shut and max(0, rec.stop - now) or 0
  head[o + 2], head[o + 3], head[o + 4] = shut and rec.ramp or 0, shut and rec.used or 0, shut and rec.class or 0
end
for _, k in ipairs(keys) do
  local o, refused = #head, k.refused == 1
  head[o + 1], head[o + 2] = k.gen, k.refused
  head[o + 3], head[o + 4] = refused and k.class or 0, refused and max(0, k.next - now) or 0
end
for i = 1, #out do head[#head + 1] = out[i] end
local reply = cmsgpack.pack(head)

if not dry then
  if number > 0 and (changed or #fixes > 0) then
    local kept = { process, number, now, #out <= 5 * SLOT_ANSWER and reply or '' }
    for i = 1, #limits do kept[4 + i] = charged[i] end
    local slots = {}
    for _, s in ipairs(recs[1].slots) do
      if s[1] ~= process and s[3] >= now - SLOT_KEPT then slots[#slots + 1] = s end
    end
    slots[#slots + 1] = kept
    recs[1].slots, recs[1].dirty = slots, true
  end
  for i, rec in ipairs(recs) do
    if rec.dirty then save_record(i, rec) end
  end
  for i, k in ipairs(keys) do
    if k.dirty then
      local value = cmsgpack.pack({ k.gen, k.refused, k.class, k.next, k.probe, k.began })
      redis.call('SET', KEYS[i + 2], value, 'PX', ceil((max(k.next, now) - now + KEY_KEPT) / 1000))
    end
  end
  for _, n in ipairs(notices) do redis.call('PUBLISH', ARGV[2], n) end
end
return reply
