--[[ The log of a stream: entries under explicit ids, one publish for all that a script wrote.
     open_log(root, stream, channel, seq) -> log
       log.write(writer, json)  appends one entry under the next sequence
       log.control(json)        the same for a control message of the store; they are counted apart
       log.close(...)           stores the sequence, with further fields of the root, and publishes
                                [prev, [ [seq, writer, message], ... ] ]
     The sequence lives in the root hash, so it survives the stream. ]]
local function open_log(root, stream, channel, seq)
  local log = { seq = seq, prev = seq, out = {} }
  function log.write(writer, json)
    log.seq = log.seq + 1
    local id = string.format('%d', log.seq)
    redis.call('XADD', stream, id .. '-0', 'w', writer, 'c', json)
    log.out[#log.out + 1] = '[' .. id .. ',' .. cjson.encode(writer) .. ',' .. json .. ']'
  end
  function log.control(json)
    redis.call('HINCRBY', root, 'controls', 1)
    log.write('', json)
  end
  function log.close(...)
    if #log.out == 0 then
      if select('#', ...) > 0 then redis.call('HSET', root, ...) end
      return
    end
    redis.call('HSET', root, 'seq', string.format('%d', log.seq), ...)
    redis.call('SPUBLISH', channel,
      '[' .. string.format('%d', log.prev) .. ',[' .. table.concat(log.out, ',') .. ']]')
  end
  return log
end

local TERMINAL = { completed = true, failed = true, interrupted = true, aborted = true }
