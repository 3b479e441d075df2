import type { UIMessage } from 'ai';
import { HEADERS } from '../../protocol/ids.js';
import { loadSnapshot, type Snapshot } from '../support/chat-client.js';
import { expectAlternating, toComparable } from '../support/compare-messages.js';
import { postJson } from '../support/post-json.js';
import { newSessionId } from '../support/product.js';
import type { Browser, Kit, LoggedRequest, MountOptions } from './browser.js';
import { toTab, type Tab } from './tab.js';

/** Parts of a product that scenarios use. */
export interface StagedProduct {
  readonly url: string;
  /** Counts real executions of `charge` in these runs, by call. */
  chargesOf: (runs: string) => Promise<Record<string, number>>;
  /** Reads the stream's status from the record, since reading a snapshot counts as the newest one. */
  storedStream: (sessionId: string) => Promise<string | undefined>;
}

/** One conversation with one client version. */
export interface Stage {
  readonly browser: Browser;
  readonly sessionId: string;
  readonly product: StagedProduct;
  /** Opens a page on a new conversation; with `resume` it still requests the active reply. */
  openNew: (options?: MountOptions) => Promise<Tab>;
  /** Begins to load a page: it has its snapshot, and `mount` requests the rest. */
  beginLoad: () => Promise<Tab>;
  /** Loads a page (again): first the snapshot, then the stream of the active turn. */
  load: (options?: MountOptions) => Promise<Tab>;
  stored: () => Promise<Snapshot>;
  stop: () => Promise<void>;
  post: (path: string, body?: object) => Promise<number>;
  /** Counts real executions of `charge` by call. */
  countCharges: () => Promise<Record<string, number>>;
  storedStream: () => Promise<string | undefined>;
  /**
   * Expects the tab to rest after these POSTs and errors and to show what is stored, with one
   * message per side and turn.
   */
  expectRight: (tab: Tab, expected: { posts: number; errors?: string[] }) => Promise<void>;
  readLogs: () => Promise<LoggedRequest[]>;
  close: () => Promise<void>;
}

/** Parts of calls that pages execute. */
const OF_PAGES = new Set(['tool-locate', 'tool-ask']);

const STATIC_PARTS = { [HEADERS.toolParts]: 'static' };

export function openStage(
  browser: Browser,
  product: StagedProduct,
  kit: Kit,
  agent = 'lab',
): Stage {
  const { url } = product;
  const isStatic = kit === 'static-parts';
  const sessionId = newSessionId();
  const tabs: Tab[] = [];

  async function openTab(): Promise<Tab> {
    const tab = toTab(await browser.open({ kit, url, sessionId, agent }));
    tabs.push(tab);
    return tab;
  }

  const stage: Stage = {
    browser,
    sessionId,
    product,
    openNew: async (options) => {
      const tab = await openTab();
      await tab.mount(options);
      return tab;
    },
    beginLoad: async () => {
      const tab = await openTab();
      await tab.loadSnapshot();
      return tab;
    },
    load: async (options) => {
      const tab = await stage.beginLoad();
      await tab.mount(options);
      return tab;
    },
    stored: () => loadSnapshot(url, sessionId, isStatic ? STATIC_PARTS : {}),
    post: async (path, body = {}) => {
      const response = await postJson(`${url}/api/chat/${sessionId}/${path}`, body);
      await response.arrayBuffer();
      return response.status;
    },
    stop: async () => {
      expect(await stage.post('stop')).toBe(202);
    },
    countCharges: () => product.chargesOf(`${sessionId}:`),
    storedStream: () => product.storedStream(sessionId),
    expectRight: async (tab, { posts, errors = [] }) => {
      await tab.untilRests();
      const { messages } = await stage.stored();
      expect(tab.view.errors).toEqual(errors);
      expect(tab.view.status).toBe('ready');
      expectSame(tab.view.messages, messages);
      expectAlternating(tab.view.messages);
      const types = tab.view.messages.flatMap(({ parts }) => parts.map(({ type }) => type));
      const wrong = types.filter((type) =>
        isStatic ? type.startsWith('dynamic-') : type.startsWith('tool-') && !OF_PAGES.has(type),
      );
      expect(wrong).toEqual([]);
      // On the agent server's transport each answer is a request.
      if (kit !== 'agent-server') expect(tab.posts()).toBe(posts);
    },
    readLogs: async () => (await Promise.all(tabs.map((tab) => tab.readLog()))).flat(),
    close: async () => {
      for (const tab of tabs) await tab.close();
    },
  };
  return stage;
}

/** Expects equality except for the clients' own fields. */
export function expectSame(shown: readonly UIMessage[], stored: readonly UIMessage[]): void {
  expect(toComparable(shown)).toEqual(toComparable(stored));
}
