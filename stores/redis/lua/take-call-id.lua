--[[ take call id: gives a sub-agent's call an id that no other call of the conversation has. KEYS are
     the sub-agent's.
     ARGV 1 what tells the call from others of this sub-agent: it gets the same id again  2 wanted id
     -> TAKEN id               with _<n> behind it if another call has it ]]
local mine, id, n = own_part() .. ' ' .. ARGV[1], ARGV[2], 0
while true do
  local owner = redis.call('HGET', K.owners, id)
  if owner == mine then return { 'TAKEN', id } end
  if not owner and redis.call('HEXISTS', T.calls, 'state:' .. id) == 0 and redis.call('SISMEMBER', T.settled, id) == 0 then
    redis.call('HSET', K.owners, id, mine)
    return { 'TAKEN', id }
  end
  n = n + 1
  id = ARGV[2] .. '_' .. string.format('%d', n)
end
