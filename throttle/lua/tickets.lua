-- Who waits in other processes. See tickets.go. A run is {lane, key, model, n,
-- patience, mayProbe, hold, holds, pauses 1, 2, since, age, cost by limit, tenant}.
local COST = 12
local waiting, next_waiting, again, seats = {}, 1, huge, {}
local others_ramp, withdrawn, ahead_ramp = { 0, 0 }, {}, { 0, 0 }
local function tenant_of(r) return r[COST + #limits + 1] or 0 end

local function owner(name) return string.sub(name, 1, OWNER_BYTES) end

local function line_up()
  local any = 0
  for _, rec in ipairs(ticketed) do any = any + #rec.line end
  if any == 0 then return end
  local dead = {}
  for _, rec in ipairs(ticketed) do
    for _, t in ipairs(rec.line) do
      if t[4] + TICKET_KEPT < now and owner(t[1]) ~= owner(process) then dead[owner(t[1])] = true end
    end
  end
  for i, rec in ipairs(ticketed) do
    local kept = {}
    for _, t in ipairs(rec.line) do
      if process ~= '' and t[1] == process then
        if i <= 2 or tens[i - 2].judged then
          withdrawn[#withdrawn + 1] = { t, i, false } -- ticket, record, stands
        else
          kept[#kept + 1] = t
        end
      elseif not dead[owner(t[1])] then
        kept[#kept + 1] = t
        waiting[#waiting + 1] = { t, i }
      end
    end
    if #kept < #rec.line then rec.line, rec.dirty = kept, true end
  end
  table.sort(waiting, function(a, b)
    local s, t = a[1], b[1]
    if s[2] ~= t[2] then return s[2] < t[2] end
    if s[3] ~= t[3] then return s[3] < t[3] end
    if s[1] ~= t[1] then return s[1] < t[1] end
    return a[2] < b[2]
  end)
end
line_up()

local function came(r) return r[11] > 0 and r[11] or now - r[12] end

local lane, since = -1, 0
local function let_ahead(r)
  since, lane = r[1] == lane and max(came(r), since) or came(r), r[1]
  while waiting[next_waiting] do
    local t, i = waiting[next_waiting][1], waiting[next_waiting][2]
    if t[2] > r[1] or t[2] == r[1] and (t[3] > since or t[3] == since and t[1] > process) then break end
    use(i - 2 > 0 and i - 2)
    next_waiting = next_waiting + 1
    again = min(again, t[4] + (t[4] + TICKET_GONE > now and TICKET_GONE or t[4] + TICKET_LATE > now and TICKET_LATE or TICKET_KEPT + 1))
    for o = 5, #t, 2 do
      if t[o] == 0 then
        ahead_ramp[i], others_ramp[i] = ahead_ramp[i] + t[o + 1], others_ramp[i] + t[o + 1]
      end
      for j, s in ipairs(limits) do
        if s[1] == t[o] and record_of(j) == ticketed[i] then ahead[j], others[j] = ahead[j] + t[o + 1], others[j] + t[o + 1] end
      end
    end
  end
  use(tenant_of(r))
end

-- wait notes the first call of each lane that waits, and the first of each
-- tenant that waits for its own limits: {lane, since, turn, lacks by limit, lacks
-- of the ramps, run, tenant}.
local seated = -1
local function wait(r, turn, lacking, ramps)
  local w, own_turn, all = tens[tenant_of(r)], true, ramps[1] or ramps[2]
  for i = 1, shared do all = all or lacking[i] end
  if w then
    own_turn, w.seated = w.seated ~= r[1], r[1]
    local own_lack = false
    for i = shared + 1, #limits do own_lack = own_lack or lacking[i] end
    if own_lack and w.seat ~= r[1] then
      w.seat = r[1]
      seats[#seats + 1] = { r[1], since, turn, lacking, {}, r, tenant_of(r) }
    end
  end
  if all and own_turn and seated ~= r[1] then
    seated = r[1]
    seats[#seats + 1] = { r[1], since, turn, lacking, ramps, r, 0 }
  end
end

local function was(t, i, r, came_at)
  if t[2] ~= r[1] or t[3] ~= came_at or i > 2 and i - 2 ~= tenant_of(r) then return false end
  for o = 5, #t, 2 do
    for j, s in ipairs(limits) do
      if s[1] == t[o] and record_of(j) == ticketed[i] and r[COST + j] < t[o + 1] then return false end
    end
  end
  return true
end

local function goes(r)
  for _, w in ipairs(withdrawn) do
    w[3] = w[3] or was(w[1], w[2], r, since)
  end
end

local function seat()
  if process == '' then return end
  for _, w in ipairs(seats) do
    use(w[7])
    local from, to = 1, 2
    if w[7] > 0 then from, to = 2 + w[7], tens[w[7]].judged and 2 + w[7] or 0 end
    for i = from, to do
      local rec, t = ticketed[i], { process, w[1], w[2], w[3] }
      if w[5][i] then t[5], t[6] = 0, 1 end
      for j, s in ipairs(limits) do
        if w[4][j] and record_of(j) == rec then t[#t + 1], t[#t + 2] = s[1], w[4][j] end
      end
      if #t > 4 then
        rec.line[#rec.line + 1], rec.dirty = t, true
        for _, old in ipairs(withdrawn) do
          if old[2] == i and was(old[1], i, w[6], w[2]) then old[3] = true end
        end
      end
    end
  end
  for _, w in ipairs(withdrawn) do
    if not w[3] then ticketed[w[2]].freed = true end
  end
end
