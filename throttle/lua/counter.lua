-- Counters, whatever their algorithm. A limit is {label, algorithm, amount,
-- per, offset, burst, then share, amount, burst by lane}.
--
-- Calls in flight: counter {label, 0, sum, process, calls, until, ...}. See
-- held.go.
local function held_advance(c)
  local n, sum, size = 3, 0, #c
  for i = 4, size, 3 do
    if c[i + 2] > now then
      c[n + 1], c[n + 2], c[n + 3] = c[i], c[i + 1], c[i + 2]
      n, sum = n + 3, sum + c[i + 1]
    end
  end
  for i = size, n + 1, -1 do c[i] = nil end
  c[3] = sum
end

local function held_by(c, who, n)
  for i = 4, #c, 3 do
    if c[i] == who then
      local fewer = c[i + 1] - n
      c[3] = c[3] - fewer
      if n > 0 then
        c[i + 1], c[i + 2] = n, now + HELD_KEPT
      else
        for _ = 1, 3 do table.remove(c, i) end
      end
      return fewer
    end
  end
  if n > 0 then
    local o = #c
    c[o + 1], c[o + 2], c[o + 3] = who, n, now + HELD_KEPT
    c[3] = c[3] + n
  end
  return -n
end

local function held_take(c, who, units)
  for i = 4, #c, 3 do
    if c[i] == who then units = units + c[i + 1] end
  end
  held_by(c, who, units)
end

local function held_until(c)
  local stop = now + HELD_KEPT
  for i = 4, #c, 3 do stop = min(stop, c[i + 2]) end
  return stop
end

local function held_last(c)
  local stop = 0
  for i = 4, #c, 3 do stop = max(stop, c[i + 2]) end
  return stop
end

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
  if s[2] == LOG or s[2] == HELD then
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
  if s[2] == HELD then return held_advance(c) end
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
  if s[2] <= LOG or s[2] == HELD then return max(0, floor((s[l + 1] - c[3] - ahead) / cost)) end
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
  if s[2] == HELD then return end
  bucket_settle(c, 2, s[4], at, delta, s[6], LEVEL_FLOOR)
  each_share(c, s, function(o, burst, bottom) bucket_settle(c, o, s[4], at, delta, burst, bottom) end)
end

local function expires(c, s)
  if s[2] == WINDOW then return window_start(c, s) + 2 * s[4] end
  if s[2] == FIXED then return window_start(c, s) + s[4] end
  if s[2] == LOG then return c[3] > 0 and (c[#c - 1] + log_span(s[4]) + 1) * log_width(s[4]) or 0 end
  if s[2] == HELD then return held_last(c) end
  local at = bucket_room_at(c, 2, s[4], s[6])
  each_share(c, s, function(o, burst) at = max(at, bucket_room_at(c, o, s[4], burst)) end)
  return at
end

local function used(c, s)
  if s[2] == WINDOW then return window_used(c, s) end
  if s[2] <= LOG or s[2] == HELD then return c[3] end
  return s[6] - bucket_has(c, 2, s[4])
end
