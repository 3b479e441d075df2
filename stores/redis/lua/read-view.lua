--[[ read view: a session with the calls of its sub-agents, at one moment.
     -> root rows queue { order calls } of the session, then { order calls } of each sub-agent at work ]]
local root = redis.call('HGETALL', K.root)
if K.root ~= T.root then
  for field, name in pairs({ seq = 'seq', stream = 'stream', conversationStep = 'committed' }) do
    root[#root + 1], root[#root + 2] = field, redis.call('HGET', T.root, name) or ''
  end
end
local view = { root, redis.call('LRANGE', K.rows, 0, -1), redis.call('LRANGE', K.queue, 0, -1) }
walk(function()
  view[#view + 1] = { redis.call('LRANGE', K.order, 0, -1), redis.call('HGETALL', K.calls) }
end)
return view
