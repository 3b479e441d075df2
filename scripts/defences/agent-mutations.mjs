// Defences of what an author's definitions may be; see mutations.mjs.
const SUITE = 'test/agents/settings.test.ts';

export const agents = [
  {
    defence: 'Settings: fields that do not exist are refused',
    file: 'agents/fields.ts',
    edits: [['z.strictObject(shape, {', 'z.object(shape, {']],
    test: 'defineAgent names the fields of {"temprature":1} that an agent does not have',
  },
  {
    defence: "Settings: tools in an agent's list are checked again",
    file: 'agents/define-agent.ts',
    edits: [['    assertTool(tool, { agent: name, index });\n', '']],
    test: 'defineAgent names agent and tool when a tool in its list has a fault',
  },
].map((mutation) => ({ suite: SUITE, ...mutation }));
