--[[ remove queued: removes messages that wait; their ids count as never accepted.
     ARGV 1 sessionId  2 any message of the entry, '' for all entries  3 now
     -> REMOVED entries ]]
local r = root_table()
local entries, removed = 0, {}
for _, json in ipairs(redis.call('LRANGE', K.queue, 0, -1)) do
  local ids = ids_of(cjson.decode(json).messages)
  local is_meant = ARGV[2] == ''
  for _, id in ipairs(ids) do is_meant = is_meant or id == ARGV[2] end
  if is_meant then
    entries = entries + 1
    redis.call('LREM', K.queue, 1, json)
    for _, id in ipairs(ids) do
      redis.call('HDEL', K.messages, id)
      removed[#removed + 1] = id
    end
  end
end
if entries == 0 then return { 'REMOVED', 0 } end
local log = open_session_log(r)
note_queue(log, { agentId = ARGV[1], agentType = r.agent, step = tonumber(r.committed), now = tonumber(ARGV[3]) }, removed)
log.close()
-- It was kept for what waited.
if TERMINAL[r.status] and redis.call('LLEN', K.queue) == 0 then arm_expiry(true) end
return { 'REMOVED', entries }
