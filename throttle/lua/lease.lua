-- A lease: {lane, n, divisor, cost by limit}. See lease.go.
local function taken(lane)
  for _, w in ipairs(seats) do
    if w[1] <= lane then return true end
  end
  for _, w in ipairs(waiting) do
    if w[1][2] <= lane then return true end
  end
  for _, r in ipairs(runs) do
    if r[7] == 1 and r[1] <= lane then
      if r[9] ~= 0 or r[10] ~= 0 then return true end
      for i = 1, #limits do
        if r[COST + i] > 0 then return true end
      end
    end
  end
  return false
end

local leased = 0
if lease and not taken(lease[1]) then
  local shut = false
  for _, rec in ipairs(recs) do shut = shut or rec.stop > now or ramping(rec) end
  if not shut then
    local r = { lease[1] }
    for i = 1, #limits do
      ahead[i], r[COST + i] = 0, lease[3 + i]
    end
    local n = min(lease[2], floor(run_fit(r, 0, huge) / lease[3]))
    if n >= 1 then
      leased = n
      run_take(r, n)
    end
  end
end
seat()
