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
