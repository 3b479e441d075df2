--[[ close writer: what the writer wrote stays, no later attempt withdraws it.
     ARGV 1 writer  2 token
     -> CLOSED | FENCED ]]
local owner = redis.call('HGET', K.writers, 't:' .. ARGV[1])
if owner and owner ~= ARGV[2] then return { 'FENCED' } end
release_writer(ARGV[1])
return { 'CLOSED' }
