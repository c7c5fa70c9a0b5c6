-- Plain claims: nothing is out of the ordinary, and all calls find room. They
-- are decided here in one straight line, before the functions below exist:
-- making those costs more time than the decision. Whatever doesn't fit is left
-- to them with nothing changed; these are their steps and none of its own.
-- plain.go says which claims are sent in this form: process, epochs that the
-- claim knows of the budget's record and the account's, number, own limits,
-- limits, settlements, runs; then numbers: generations of the keys, {label,
-- offset} by limit, {at, delta by limit} by settlement, {n, cost by limit,
-- ceiling by limit} by run. The answer is short, too: a byte that begins no
-- packed one, then numbers: now, generation by key, use by limit; then the
-- epochs, if there is one that the claim doesn't know.
repeat
  if not ARGV[3] then break end
  local process, knows_b, knows_a, number, own, last, settles, runs, from = struct.unpack('>Bc0Bc0Bc0dHHHH', ARGV[3])
  local p = { struct.unpack('>' .. string.rep('d', (#ARGV[3] - from + 1) / 8), ARGV[3], from) }

  local sound, b = pcall(cmsgpack.unpack, raw[1])
  if not sound or type(b) ~= 'table' or type(b[8]) ~= 'table' or (b[9] or '') == '' then break end
  if knows_b ~= '' and b[9] ~= knows_b then break end
  if b[1] + b[2] > now or b[6][1] or b[8][1] or #b[5] ~= own then break end
  local a, of_account = nil, {}
  if raw[2] then
    sound, a = pcall(cmsgpack.unpack, raw[2])
    if not sound or type(a) ~= 'table' or type(a[8]) ~= 'table' or (a[9] or '') == '' then break end
    if knows_a ~= '' and a[9] ~= knows_a then break end
    if a[1] + a[2] > now or a[6][1] or a[8][1] then break end
    of_account = a[5]
  elseif knows_a ~= '' then
    break
  end
  if #of_account ~= last - own then break end

  local said, at, odd = { now }, 0, false
  for i = 3, #KEYS do
    local gen = 0
    at = at + 1
    if raw[i] then
      local k
      sound, k = pcall(cmsgpack.unpack, raw[i])
      if not sound or type(k) ~= 'table' or not k[6] or k[2] == 1 then odd = true break end
      gen = k[1]
    end
    if p[at] > gen then odd = true break end
    said[at + 1] = gen
  end
  if odd then break end

  local slots, since = {}, now - (#b[7] > SLOT_MANY and SLOT_KEPT_OF_MANY or SLOT_KEPT)
  for _, s in ipairs(b[7]) do
    if s[1] == process then
      odd = odd or number <= s[2]
    elseif s[3] >= since then
      if s[3] < now - SLOT_ANSWER_KEPT then s[4] = '' end
      slots[#slots + 1] = s
    end
  end
  if odd then break end

  local counts, pers, offsets, sliding, slot = {}, {}, {}, {}, { process, number, now, '' }
  for i = 1, last do
    local c
    for _, known in ipairs(i <= own and b[5] or of_account) do
      if known[1] == p[at + 1] then c = known break end
    end
    if not c then odd = true break end
    pers[i], offsets[i], sliding[i] = floor(c[1] / 64), p[at + 2], c[1] % 8 == WINDOW
    local index = floor((now - offsets[i]) / pers[i])
    if index > c[2] then
      c[4] = index == c[2] + 1 and c[3] or 0
      c[2], c[3] = index, 0
    end
    counts[i], slot[4 + i], at = c, 0, at + 2
  end
  if odd then break end

  local account_dirty, charged = false, false
  for _ = 1, settles do
    for i = 1, last do
      local d, c = p[at + 1 + i], counts[i]
      if d ~= 0 then
        local index = floor((p[at + 1] - offsets[i]) / pers[i])
        if index >= c[2] then
          c[3] = min(USED_CAP, max(0, c[3] + d))
        elseif index == c[2] - 1 and sliding[i] then
          c[4] = min(USED_CAP, max(0, c[4] + d))
        elseif d > 0 then
          c[3] = min(USED_CAP, c[3] + d)
        end
        account_dirty = account_dirty or i > own
      end
    end
    at = at + 1 + last
  end

  local used = {}
  for i = 1, last do
    local c, per = counts[i], pers[i]
    used[i] = c[3]
    if sliding[i] then used[i] = c[3] + ceil(c[4] * (per - max(0, now - (c[2] * per + offsets[i]))) / per) end
  end
  for _ = 1, runs do
    local n = p[at + 1]
    for i = 1, last do
      local units = n * p[at + 1 + i]
      if units > 0 then
        if used[i] + units > p[at + 1 + last + i] then odd = true break end
        used[i], counts[i][3], slot[4 + i] = used[i] + units, counts[i][3] + units, slot[4 + i] + units
        account_dirty, charged = account_dirty or i > own, true
      end
    end
    if odd then break end
    at = at + 1 + 2 * last
  end
  if odd or not charged then break end

  local keyed = #said
  for i = 1, last do said[keyed + i] = used[i] end
  local reply = '\193' .. struct.pack('>' .. string.rep('d', keyed + last), unpack(said))
  local new_b, new_a = b[9] ~= knows_b, a and a[9] ~= knows_a
  if new_b or new_a then
    reply = reply .. struct.pack('>Bc0Bc0', new_b and #b[9] or 0, new_b and b[9] or '', new_a and #a[9] or 0, new_a and a[9] or '')
  end
  if runs <= SLOT_ANSWER then slot[4] = reply end
  slots[#slots + 1], b[7] = slot, slots
  local stop = { b[1] > 0 and b[1] + b[2] or 0, a and a[1] > 0 and a[1] + a[2] or 0 }
  for i = 1, last do
    local which = i <= own and 1 or 2
    stop[which] = max(stop[which], (counts[i][2] + (sliding[i] and 2 or 1)) * pers[i] + offsets[i])
  end
  redis.call('SET', KEYS[1], cmsgpack.pack(b), 'PX', ceil((max(stop[1], now) - now + MARGIN) / 1000))
  if account_dirty then
    redis.call('SET', KEYS[2], cmsgpack.pack(a), 'PX', ceil((max(stop[2], now) - now + MARGIN) / 1000))
  end
  return reply
until true
