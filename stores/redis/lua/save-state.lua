--[[ save state: replaces the agent's own state if it is the expected version, and takes the staged
     changes that it was made of.
     ARGV 1 expected version  2 state  3 now  4.. per staged change: stepId/toolCallId, number under which it was
          staged
     -> SAVED version | STALE | NOT_FOUND ]]
local r = root_table()
if not r.agent then return { 'NOT_FOUND' } end
local version = tonumber(r.stateV or '0')
if version ~= tonumber(ARGV[1]) then return { 'STALE' } end
for i = 4, #ARGV, 2 do
  local staged = redis.call('HGET', K.staged, ARGV[i])
  if not staged or staged:match('^%d+') ~= ARGV[i + 1] then return { 'STALE' } end
end
for i = 4, #ARGV, 2 do redis.call('HDEL', K.staged, ARGV[i]) end
put_state(r, ARGV[2])
redis.call('HSET', K.root, 'updated', ARGV[3])
expire_with_root()
return { 'SAVED', version + 1 }
