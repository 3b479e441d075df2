// The defences of sub-agents; see mutations.mjs.
const LUA = 'stores/redis/lua';

const asks = 'a sub-agent waits for the last answer in the conversation, then all go on';
const refuses = 'a sub-agent is refused for any other call, run or name';
const ends = 'a sub-agent ends with its conversation, every call settled once';
const ids = 'a sub-agent has call ids of its own';

/** The text is taken out of the file. */
const without = (text) => [[text, '']];

export const subAgents = [
  {
    defence: 'Sub-agents: none is made without its own open call',
    file: `${LUA}/begin-child.lua`,
    edits: without(
      "if above.state ~= 'open' or above.child ~= own_part() then return { 'REFUSED' } end\n",
    ),
    test: refuses,
  },
  {
    defence: 'Sub-agents: run and agent are those that the call names',
    file: `${LUA}/begin-child.lua`,
    edits: without("if child.runId ~= run or child.agent ~= agent then return { 'REFUSED' } end\n"),
    test: refuses,
  },
  {
    defence: 'Sub-agents: none is made for a run that is over',
    file: `${LUA}/begin-child.lua`,
    edits: without(
      "if above.run ~= ARGV[4] or TERMINAL[above.status] then return { 'SUPERSEDED' } end\n",
    ),
    test: refuses,
  },
  {
    defence: 'Sub-agents: their number is limited',
    file: `${LUA}/begin-child.lua`,
    edits: [["tonumber(t[5] or '0') >= tonumber(ARGV[7])", 'false']],
    test: 'a sub-agent is one of at most a hundred in a run',
  },
  {
    defence: 'Sub-agents: no tool carries their call out',
    file: `${LUA}/start-call.lua`,
    edits: without(" or call_field(id, 'kind') == 'subagent'"),
    test: 'a sub-agent is made of the call that it carries out, once',
  },
  {
    defence: 'Sub-agents: one sequence for the whole conversation',
    file: `${LUA}/append.lua`,
    edits: without("if tree ~= root then r[4] = redis.call('HGET', tree, 'seq') end\n"),
    test: 'a sub-agent speaks in the stream of its conversation, numbered with it',
  },
  {
    defence: 'Sub-agents: answers given to the conversation find who asked',
    file: `${LUA}/settle-call.lua`,
    edits: without('find_owner(id)\n'),
    test: 'a sub-agent keeps the conversation active until it rests, then pauses it and is answered there',
  },
  {
    defence: 'Sub-agents: nobody answers what was not asked yet',
    file: `${LUA}/settle-call.lua`,
    edits: without(
      "if source ~= 'tool' and call_field(id, 'ask') then return { 'NOT_PENDING' } end\n",
    ),
    test: asks,
  },
  {
    defence: 'Sub-agents: all go on with the last answer, none before',
    file: `${LUA}/lib/tree.lua`,
    edits: without("  if is_open then return '', '' end\n"),
    test: asks,
  },
  {
    defence: 'Sub-agents: none goes on while others are waited for',
    file: `${LUA}/claim.lua`,
    edits: without(" or (K.root ~= T.root and r.stream == 'paused')"),
    test: asks,
  },
  {
    defence: 'Sub-agents: history keeps the results of what people were asked',
    file: `${LUA}/lib/calls.lua`,
    edits: without("      redis.call('RPUSH', T.rows, '{\"display\":true,' .. row:sub(2))\n"),
    test: asks,
  },
  {
    defence: 'Sub-agents: the end of a run ends those below it',
    file: `${LUA}/lib/runs.lua`,
    edits: without('if K.root ~= own then table.insert(below, 1, own_part()) end'),
    test: ends,
  },
  {
    defence: 'Sub-agents: what nobody was shown gets no end in the stream',
    file: `${LUA}/lib/calls.lua`,
    edits: without("  if call_field(id, 'ask') then return end\n"),
    test: ends,
  },
  {
    defence: 'Sub-agents: a lost one writes no more',
    file: `${LUA}/settle-call.lua`,
    edits: [['if part then\n', 'if false then\n']],
    test: 'a sub-agent that is lost at work ends with its call, and writes no more',
  },
  {
    defence: 'Sub-agents: whoever has nothing left to wait for goes on',
    file: `${LUA}/settle-call.lua`,
    edits: without(
      "  if resumption == '' and not has_unsettled() then go_on_alone(log, now) end\n",
    ),
    test: 'a sub-agent may have sub-agents itself, which rest and end with it',
  },
  {
    defence: 'Sub-agents: a stop of another run is none',
    file: `${LUA}/stop.lua`,
    edits: without(" or wanted ~= '' and wanted ~= r.run"),
    test: 'a sub-agent that is told to stop stops the conversation',
  },
  {
    defence: 'Sub-agents: a call keeps the id that it was given',
    file: `${LUA}/take-call-id.lua`,
    edits: without("  if owner == mine then return { 'TAKEN', id } end\n"),
    test: ids,
  },
  {
    defence: 'Sub-agents: no call has the id of one of the conversation',
    file: `${LUA}/take-call-id.lua`,
    edits: without("redis.call('HEXISTS', T.calls, 'state:' .. id) == 0 and "),
    test: ids,
  },
];
