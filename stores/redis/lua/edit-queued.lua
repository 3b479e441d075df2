--[[ edit queued: replaces a message that waits.
     ARGV 1 sessionId  2 messageId  3 hash of the content that was read  4 hash  5 row  6 now
     -> EDITED | STALE | NOT_QUEUED ]]
local r = root_table()
for at, json in ipairs(redis.call('LRANGE', K.queue, 0, -1)) do
  local entry = cjson.decode(json)
  for _, message in ipairs(entry.messages) do
    if message.id == ARGV[2] then
      if message.hash == ARGV[4] then return { 'EDITED' } end
      if message.hash ~= ARGV[3] then return { 'STALE' } end
      message.hash, message.row = ARGV[4], ARGV[5]
      redis.call('LSET', K.queue, at - 1, cjson.encode(entry))
      redis.call('HSET', K.messages, ARGV[2], ARGV[4])
      local log = open_session_log(r)
      note_queue(log, { agentId = ARGV[1], agentType = r.agent, step = tonumber(r.committed), now = tonumber(ARGV[6]) }, nil)
      log.close()
      return { 'EDITED' }
    end
  end
end
return { 'NOT_QUEUED' }
