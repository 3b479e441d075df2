import type { ReactElement, ReactNode } from 'react';

interface Props {
  onNewChat: () => void;
  children?: ReactNode;
}

export function TopBar({ onNewChat, children }: Props): ReactElement {
  return (
    <header className="top">
      <h1>helix</h1>
      <div className="top-tools">{children}</div>
      <button type="button" data-testid="new-chat" onClick={onNewChat}>
        New chat
      </button>
    </header>
  );
}
