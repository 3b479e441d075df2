import type { UIMessage } from 'ai';
import { callsOf, textOf, toScript } from '../support/chat-client.js';
import { until } from '../support/until.js';
import type { BrowserPage, PageRequest } from './browser.js';

/** Temporal may start an activity tens of seconds late if other files run servers meanwhile. */
const SHOWN_WITHIN_MS = 90_000;

/** A page with a person in front of it. */
export interface Tab extends BrowserPage {
  /** Sends a script for the lab agent. */
  say: (...script: object[]) => Promise<void>;
  /** Text of the newest message; empty if it is not the agent's. */
  reply: () => string;
  /** Lets the agent say these texts, one in each turn, and waits until the page rests. */
  hear: (...texts: string[]) => Promise<void>;
  calls: () => ReturnType<typeof callsOf>;
  posts: () => number;
  untilShown: (what: string, ask: () => boolean | undefined) => Promise<void>;
  /** Resolves with the approval's id once the page shows the question and rests. */
  untilAsked: (toolCallId: string) => Promise<string>;
  /** Waits for the question about a call and decides it. */
  decide: (toolCallId: string, approved: boolean) => Promise<void>;
  /** Waits for the request of a client tool and gives its result. */
  give: (toolCallId: string, tool: string, output: unknown) => Promise<void>;
}

function isPost({ method, url }: PageRequest): boolean {
  return method === 'POST' && !url.endsWith('/lease');
}

export function toTab(page: BrowserPage): Tab {
  const newest = (): UIMessage | undefined => page.view.messages.at(-1);
  const calls = (): ReturnType<typeof callsOf> => callsOf(newest());
  const hasState = (toolCallId: string, state: string): boolean =>
    page.view.status === 'ready' &&
    page.view.requests.every(({ end }) => end !== null) &&
    calls().some((part) => part.toolCallId === toolCallId && part.state === state);

  const tab: Tab = {
    ...page,
    // Spreading would freeze the current view.
    get view() {
      return page.view;
    },
    say: (...script: object[]) => page.act('sendMessage', toScript(...script)),
    reply: () => {
      const message = newest();
      return message?.role === 'assistant' ? textOf(message) : '';
    },
    hear: async (...texts: string[]) => {
      for (const text of texts) {
        await tab.say({ say: text });
        await tab.untilShown(text, () => tab.reply() === text);
        await tab.untilRests();
      }
    },
    calls,
    posts: () => page.view.requests.filter(isPost).length,
    untilShown: async (what: string, ask: () => boolean | undefined) => {
      await until(`${what}: ${page.sessionId}`, ask, SHOWN_WITHIN_MS);
    },
    untilAsked: async (toolCallId: string) => {
      await tab.untilShown(`${toolCallId} is asked about`, () =>
        hasState(toolCallId, 'approval-requested'),
      );
      const part = calls().find((call) => call.toolCallId === toolCallId);
      return part?.state === 'approval-requested' ? part.approval.id : '';
    },
    decide: async (toolCallId: string, approved: boolean) => {
      const id = await tab.untilAsked(toolCallId);
      await page.act('addToolApprovalResponse', { id, approved });
    },
    give: async (toolCallId: string, tool: string, output: unknown) => {
      await tab.untilShown(`${toolCallId} is asked for`, () =>
        hasState(toolCallId, 'input-available'),
      );
      await page.act('addToolOutput', { tool, toolCallId, output });
    },
  };
  return tab;
}
