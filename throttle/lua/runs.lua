-- Which calls go. See decide.go.
local function rate_of(r)
  local rate = huge
  for i = 1, shared do
    local s, cost = limits[i], r[COST + i]
    if cost > 0 and s[2] ~= HELD then rate = min(rate, s[3] / (cost * s[4])) end
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
      if s[2] == HELD then held_take(counts[i], process, n) else take(counts[i], s, n * cost) end
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
  local at, alone, code, limit, lacks, lacking = now, now, WAITS_ROOM, 0, 0, {}
  local ramps = {}
  for i, rec in ipairs(recs) do
    local turn = turn_at(rec, rate, ahead_ramp[i])
    if turn > now then
      alone = max(alone, turn_at(rec, rate, ahead_ramp[i] - others_ramp[i]))
      lacks, ramps[i] = lacks + PAUSED_BIT * i, true
      if turn > at then at, code = turn, WAITS_PAUSE end
    end
  end
  for i, s in ipairs(limits) do
    local cost = r[COST + i]
    if cost > 0 and fit(counts[i], s, r[1], ahead[i], cost) < 1 then
      lacks, lacking[i] = lacks + 2 ^ (i - 1), cost
      local most = s[7 + r[1] * 3 + ((s[2] <= LOG or s[2] == HELD) and 1 or 2)]
      local turn = now + MAX_WAIT -- what is larger than its ceiling never fits
      if s[2] == HELD then
        turn = now + min(max(1, r[5]), held_until(counts[i]) + 1 - now)
        alone = max(alone, turn)
      elseif cost <= most then
        turn = room_at(counts[i], s, r[1], ahead[i], cost)
        alone = max(alone, room_at(counts[i], s, r[1], ahead[i] - others[i], cost))
      end
      if turn > at then at, code, limit = turn, WAITS_ROOM, i - 1 end
    end
  end
  local turn = max(1, at - now)
  if turn > r[5] then return code + (DENIED_ROOM - WAITS_ROOM), limit, lacks, turn end
  turn = max(1, min(at, max(alone, again)) - now)
  for i, cost in pairs(lacking) do ahead[i] = ahead[i] + cost end
  for i in pairs(ramps) do ahead_ramp[i] = ahead_ramp[i] + 1 end
  wait(r, now + turn, lacking, ramps)
  return code, limit, lacks, turn
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
  if r[8] ~= '' and (r[8] == k.probe or k.probe == ANY_PROBE) then
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
  let_ahead(r)
  local stop = denied_until(recs[1], models[r[3] + 1])
  if stop > now then return say(DENIED_MODEL, left, 0, 0, stop - now) end
  local rate = rate_of(r)
  while left > 0 do
    local n = run_fit(r, rate, left)
    if n > 0 then
      run_take(r, n)
      goes(r)
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
  use(tenant_of(r))
  if r[7] == 1 then
    for i = 1, #limits do ahead[i] = ahead[i] + r[COST + i] end
    ahead_ramp[1], ahead_ramp[2] = ahead_ramp[1] + r[9], ahead_ramp[2] + r[10]
  else
    judge(r)
  end
end
