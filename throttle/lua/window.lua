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
