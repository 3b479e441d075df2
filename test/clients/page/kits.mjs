// The kits: each is a hook with its options.

// Tests break connections and wait for the reconnection, so retries come fast.
const patience = { retryDelayMs: () => 50 };

/** Headers of every request of the page, including its snapshot. */
export const HEADERS_OF = {
  'static-parts': { 'x-helix-tool-parts': 'static' },
};

const stock = ({ client: { ai, aiReact }, kit, url, agent, fetch }) => ({
  useChat: aiReact.useChat,
  transport: new ai.DefaultChatTransport({
    api: `${url}/api/chat`,
    headers: HEADERS_OF[kit],
    body: { agent },
    fetch,
  }),
  sendAutomaticallyWhen: (state) =>
    ai.lastAssistantMessageIsCompleteWithApprovalResponses(state) ||
    ai.lastAssistantMessageIsCompleteWithToolCalls(state),
});

export const KITS = {
  stock,
  'no-cookies': stock,
  'static-parts': stock,
  resumable: ({ own, url, agent, fetch }) => ({
    useChat: own.useHelixChat,
    transport: own.createResumableChatTransport({
      api: `${url}/api/chat`,
      body: { agent },
      fetch,
      ...patience,
    }),
  }),
  'agent-server': ({ own, url, agent, fetch, snapshot }) => ({
    useChat: own.useHelixChat,
    transport: own.createHelixChatTransport({
      endpoint: `${url}/api/agent`,
      agentType: agent,
      resumeFromSequence: snapshot?.streamSequence,
      fetch,
      ...patience,
    }),
  }),
};
