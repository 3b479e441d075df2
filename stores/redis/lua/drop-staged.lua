--[[ drop staged: forgets the changes that a step's calls asked for.
     ARGV 1 stepId
     -> toolCallId... ]]
local prefix, dropped = ARGV[1] .. '/', {}
for _, field in ipairs(redis.call('HKEYS', K.staged)) do
  if field:sub(1, #prefix) == prefix then
    redis.call('HDEL', K.staged, field)
    dropped[#dropped + 1] = field:sub(#prefix + 1)
  end
end
return dropped
