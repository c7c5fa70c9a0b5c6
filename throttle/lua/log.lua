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

local function log_restore(c, s, number, units)
  local here = floor(now / log_width(s[4]))
  if number < here - log_span(s[4]) or number > here then return end
  local i = 4
  while c[i] and c[i] < number do i = i + 2 end
  if c[i] ~= number then
    table.insert(c, i, 0)
    table.insert(c, i, number)
  end
  local more = min(max(0, units - c[i + 1]), USED_CAP - c[3])
  c[i + 1], c[3] = c[i + 1] + more, c[3] + more
end
