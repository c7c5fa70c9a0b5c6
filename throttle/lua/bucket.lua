-- The token bucket: five numbers from place o on: share, level, at, full,
-- amount. The counter is {label, whole bucket, shares...}. See bucket.go.
local function bucket_flow(elapsed, amount, per)
  local n = floor(elapsed / per)
  return n * amount + floor((elapsed - n * per) * amount / per)
end

local function bucket_begun(elapsed, amount, next_amount, per)
  local part = (elapsed - floor(elapsed / per) * per) * amount
  part = part - floor(part / per) * per
  return floor(min(max(0, part), per - 1) / next_amount)
end

-- bucket_advance reports whether the rate changed, which must be kept.
local function bucket_advance(c, o, amount, burst, per)
  if c[o + 4] == 0 then
    c[o + 1], c[o + 2], c[o + 3], c[o + 4] = burst, now, now, amount
    return false
  end
  local elapsed, changed = max(0, now - c[o + 2]), false
  if c[o + 4] ~= amount then
    c[o + 1] = c[o + 1] + bucket_flow(elapsed, c[o + 4], per)
    local begun = bucket_begun(elapsed, c[o + 4], amount, per)
    c[o + 2], c[o + 4], elapsed, changed = max(now, c[o + 2]) - begun, amount, begun, true
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
