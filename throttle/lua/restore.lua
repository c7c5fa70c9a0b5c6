-- Notices: {kind, account, budget, key, model, left, ramp, class, gen, refused,
-- epoch}.
local notices = {}
local function tell(kind, b, key, model, left, ramp, class, gen, refused, epoch)
  notices[#notices + 1] = cmsgpack.pack({ kind, account, b, key, model, left, ramp, class, gen, refused, epoch or '' })
end

local function tell_key(i)
  local k = keys[i]
  local left = k.refused == 1 and max(0, k.next - now) or 0
  tell(2, '', fingerprints[i], '', left, 0, k.refused == 1 and k.class or 0, k.gen, k.refused)
end


local function denied_until(rec, model)
  for i = 1, #rec.denied, 2 do
    if rec.denied[i] == model then return rec.denied[i + 1], i end
  end
  return 0, #rec.denied + 1
end

-- What a process knows of records that were lost: {counters, {left, ramp, class
-- of the budget's pause, of the account's}, {model, left, ...}}; states are gen,
-- refused, class, next of each key. See restore.go.
local function restore_counter(c, s, k)
  if s[2] == WINDOW then
    if k[2] == c[2] then
      c[3], c[4] = max(c[3], k[3]), max(c[4], k[4])
    elseif k[2] == c[2] - 1 then
      c[4] = max(c[4], k[3])
    end
  elseif s[2] == FIXED then
    if k[2] == c[2] then c[3] = max(c[3], k[3]) end
  elseif s[2] == LOG then
    for i = 4, #k, 2 do log_restore(c, s, k[i], k[i + 1]) end
  elseif s[2] ~= HELD then
    local gone = bucket_has(c, 2, s[4]) - bucket_has(k, 2, s[4])
    if gone > 0 then take(c, s, gone) end
  end
end

-- shut pauses the budget (1) or the account (2). See state.go.
local function shut(i, length, ramp, class)
  local rec = recs[i]
  if now + length <= rec.stop then return end
  rec.stop, rec.ramp, rec.used, rec.class, rec.dirty = now + length, ramp, 0, class, true
  tell(1, i == 1 and budget or '', '', '', length, ramp, class, 0, 0)
end

local function deny(name, length, class)
  local stop, at = denied_until(recs[1], name)
  if now + length <= stop then return end
  recs[1].denied[at], recs[1].denied[at + 1], recs[1].dirty = name, now + length, true
  tell(3, budget, '', name, length, 0, class, 0, 0)
end

for i = 1, #states / 4 do
  local k, gen, refused, class, next_ = keys[i], states[4 * i - 3], states[4 * i - 2], states[4 * i - 1], states[4 * i]
  if gen > k.gen then
    k.gen, k.refused, k.class, k.next, k.probe, k.began, k.dirty = gen, 0, 0, 0, '', 0, true
    if refused == 1 then k.refused, k.class, k.next, k.probe = 1, class, now + next_, ANY_PROBE end
    tell_key(i)
  end
end

if restore then
  local counters, pauses, models_denied = unpack(restore)
  for i, rec in ipairs(recs) do
    local p = 3 * i - 2
    if pauses[p] > 0 and (lost(i) or knows[i] == '') then shut(i, pauses[p], pauses[p + 1], pauses[p + 2]) end
    if lost(i) then
      rec.dirty = true
      if rec.epoch == '' then rec.epoch = birth end
      for j, s in ipairs(limits) do
        if record_of(j) == rec and counters[j] then restore_counter(counts[j], s, counters[j]) end
      end
      if i == 1 then
        for j = 1, #models_denied, 2 do deny(models_denied[j], models_denied[j + 1], MODEL_DENIED) end
      end
      tell(5, i == 1 and budget or '', '', '', 0, 0, 0, 0, 0, rec.epoch)
    end
  end
end

-- How many calls of the claim's queue run. See held.go.
if process ~= '' and not dry then
  for i, s in ipairs(limits) do
    if s[2] == HELD then
      local rec, fewer = record_of(i), held_by(counts[i], process, running)
      if fewer ~= 0 or running > 0 then rec.dirty = true end
      if fewer > 0 then rec.freed = true end
    end
  end
end
