// What a page is made with: the hook, and options for it.

// A test breaks a connection and wants to see it back.
const patience = { retryDelayMs: () => 50 };

/** Sent with every request of the page, its snapshot included. */
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
