-- An earlier arrival of the same claim. See slots.go.
local slot
if number > 0 then
  for _, s in ipairs(recs[1].slots) do
    if s[1] == process then slot = s end
  end
end
if slot and number <= slot[2] then
  if number < slot[2] then return redis.error_reply('STALE a later claim of this process came first') end
  if slot[4] == '' then return redis.error_reply("LOST the claim was applied, and its answer wasn't kept") end
  return slot[4]
end

-- A record that was lost, of which the process has something to say. See
-- restore.go.
local function lost(i) return knows[i] ~= '' and recs[i].epoch ~= knows[i] end
if not restore and (lost(1) or lost(2)) then
  return redis.error_reply('FORGOT the record is not the one that the claim knows')
end
