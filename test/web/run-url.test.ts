import { runUrl } from '../../web/src/api-client.js';

const config = { agents: ['support'], defaultAgent: 'support', namespace: 'default' };

describe('runUrl', () => {
  it('runUrl links to the workflow of a run', () =>
    expect(runUrl({ ...config, temporalUi: 'http://localhost:8233' }, 'chat:2-ab')).toBe(
      'http://localhost:8233/namespaces/default/workflows/run%3Achat%3A2-ab',
    ));

  it('runUrl accepts a base with a slash at its end', () =>
    expect(runUrl({ ...config, temporalUi: 'https://ui.example/t/' }, 'c:1-a')).toBe(
      'https://ui.example/t/namespaces/default/workflows/run%3Ac%3A1-a',
    ));

  it('runUrl returns nothing without a UI or without a run', () => {
    expect(runUrl(config, 'chat:2-ab')).toBeUndefined();
    expect(runUrl({ ...config, temporalUi: 'http://localhost:8233' }, undefined)).toBeUndefined();
  });
});
