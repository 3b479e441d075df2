import fc from 'fast-check';
import { isPermitted } from '../../../agents/index.js';
import { toModelName, toModelNames } from '../../../agents/tool-names.js';
import { defineAgent } from '../../../extensions/agents.js';
import { mcpServers, type McpServers } from '../../../extensions/mcp/index.js';
import { permissionOf } from '../../../extensions/mcp/pinned-tools.js';
import { createRedact, keepSecret } from '../../../extensions/mcp/secrets.js';

const AGENT = {
  name: 'librarian',
  systemPrompt: 'Answer.',
  llmConfig: { model: 'scripted' },
} as const;

describe('what an agent says of a server of tools', () => {
  it('addresses: public ones, those that are named, and never those of a link', () => {
    const strange = { isNamed: false, isPrivate: false };
    const named = { isNamed: true, isPrivate: false };
    const inside = { isNamed: true, isPrivate: true };
    expect(isPermitted('x.example', '93.184.216.34', strange)).toBe(true);
    for (const address of ['10.0.0.1', '127.0.0.1', '::1', '::ffff:10.0.0.1', 'fd00::1']) {
      expect(isPermitted('x.example', address, strange)).toBe(false);
      expect(isPermitted('x.example', address, named)).toBe(false);
      expect(isPermitted('x.example', address, inside)).toBe(true);
      expect(isPermitted(address, address, strange)).toBe(false);
      expect(isPermitted(address, address, named)).toBe(true);
    }
    for (const address of ['169.254.169.254', 'fe80::1', '0.0.0.0']) {
      expect(isPermitted('x.example', address, inside)).toBe(false);
    }
  });

  it('permissions: a list decides, and else the word of the server', () => {
    const lists = { allow: ['*', 'b'], approve: ['a', 'b'], deny: ['c'] };
    expect(permissionOf({}, 'x', true)).toBe('run');
    expect(permissionOf({}, 'x', false)).toBe('ask');
    expect(['a', 'b', 'c', 'd'].map((name) => permissionOf(lists, name, true))).toEqual([
      'ask',
      'ask',
      'never',
      'run',
    ]);
    expect(permissionOf({ approve: ['*'] }, 'x', true)).toBe('ask');
    expect(permissionOf({ approve: ['*'], allow: ['x'] }, 'x', false)).toBe('run');
  });

  it('names: what providers take, apart from each other', () => {
    expect(toModelName('a.b/c', 's_')).toBe('s_a_b_c');
    const [one, two] = ['1', '2'].map((end) => toModelName('x'.repeat(100) + end, 's_'));
    expect(one).toHaveLength(64);
    expect(one).not.toBe(two);
  });

  it('names: any list has as many as tools, none is another tool’s, and its order does not matter', () => {
    const name = fc.string({ unit: fc.constantFrom('a', '.', '/', '_', 'é'), maxLength: 70 });
    const lists = fc.uniqueArray(name, { maxLength: 8 });
    fc.assert(
      fc.property(lists, fc.array(name), (names, others) => {
        const taken = new Set(others);
        const made = toModelNames(new Set(names), { taken });
        const given = [...made.values()];
        expect(new Set(given).size).toBe(names.length);
        for (const each of given) {
          expect(each).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
          expect(taken.has(each)).toBe(false);
        }
        const turned = toModelNames(new Set([...names].reverse()), { taken });
        expect(new Map([...turned].sort())).toEqual(new Map([...made].sort()));
      }),
    );
  });

  it('settings that cannot work are refused when the agent is defined', () => {
    const wrong: [object, string][] = [
      [{ 'a b': { command: 'x' } }, '1 to 24 letters'],
      [{ s: { url: 'ftp://x' } }, 's.url must be an address'],
      [{ s: { url: 'https://x', token: 'y' } }, 'use headers'],
      [{ s: { command: 'x', url: 'https://x' } }, 'no field "url"'],
      [{ s: { command: 'x', allow: 'all' } }, 'must be a list of names'],
      [{ s: { command: 'x', approvers: ['boss'] } }, "roles 'approver'"],
      [{ s: 'npx server' }, 'must be an object'],
    ];
    for (const [servers, text] of wrong) {
      expect(() => mcpServers(servers as McpServers)).toThrow(text);
      const inAgent = { ...AGENT, mcpServers: servers as McpServers };
      expect(() => defineAgent(inAgent)).toThrow('Agent "librarian": mcpServers');
      expect(() => defineAgent(inAgent)).toThrow(text);
    }
  });

  it('the servers of an agent are a source beside its others', () => {
    const own = { ...mcpServers({}), name: 'own' };
    const agent = defineAgent({
      ...AGENT,
      mcpServers: { docs: { url: 'https://docs.example/mcp' } },
      toolSources: [own],
      activeTools: ['docs_find'],
    });
    expect(agent.toolSources?.map(({ name }) => name)).toEqual(['mcp', 'own']);
    expect(agent).not.toHaveProperty('mcpServers');
    expect(defineAgent(AGENT)).not.toHaveProperty('toolSources');
    const noList = { ...AGENT, mcpServers: {}, toolSources: 'docs' as never };
    expect(() => defineAgent(noList)).toThrow('toolSources must be a list of sources');
  });

  it('secrets: the newest are kept, and plain headers stay', () => {
    const secrets = new Set<string>();
    for (let n = 0; n < 1_000; n += 1) {
      keepSecret(secrets, 'in-use');
      keepSecret(secrets, `secret-${String(n)}`);
    }
    expect(secrets.size).toBe(100);
    const headers = {
      Accept: 'application/json',
      'x-key': 'my-secret',
      authorization: 'Bearer my-token',
    };
    const redact = createRedact({ url: 'https://x.example', headers }, secrets);
    expect(redact('application/json my-secret my-token in-use secret-999')).toBe(
      'application/json *** *** *** ***',
    );
  });
});
