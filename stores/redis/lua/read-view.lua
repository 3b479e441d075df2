--[[ read view: a session with the calls of its sub-agents, at one moment.
     ARGV 1 `calls` leaves rows and queue out
     -> root rows queue { order calls } of the session, then { order calls } of each sub-agent at work ]]
local root = redis.call('HGETALL', K.root)
if K.root ~= T.root then
  for field, name in pairs({ seq = 'seq', stream = 'stream', conversationStep = 'committed' }) do
    root[#root + 1], root[#root + 2] = field, redis.call('HGET', T.root, name) or ''
  end
end
local view = { root, {}, {} }
if ARGV[1] ~= 'calls' then
  view[2], view[3] = redis.call('LRANGE', K.rows, 0, -1), redis.call('LRANGE', K.queue, 0, -1)
end
walk(function()
  view[#view + 1] = { redis.call('LRANGE', K.order, 0, -1), redis.call('HGETALL', K.calls) }
end)
return view
