import { useRef, type ReactElement, type ReactNode } from 'react';

interface Props {
  onNewChat: () => void;
  /** Further actions; a menu on narrow screens. */
  children?: ReactNode;
}

export function TopBar({ onNewChat, children }: Props): ReactElement {
  const tools = useRef<HTMLDivElement>(null);
  // The menu hides the chosen item, so the browser moves the focus to the menu's button.
  const close = (): void => tools.current?.hidePopover();
  return (
    <header className="top">
      <button
        type="button"
        className="narrow"
        aria-label="Conversations"
        popoverTarget="conversations"
        data-testid="list"
      >
        ☰
      </button>
      <h1>helix</h1>
      <div
        className="top-tools"
        id="top-tools"
        popover="auto"
        ref={tools}
        onClick={({ target }) => {
          if (target instanceof Element && target.closest('button, a') !== null) close();
        }}
        onChange={close}
      >
        {children}
      </div>
      {children !== undefined && (
        <button
          type="button"
          className="narrow"
          aria-label="More"
          popoverTarget="top-tools"
          data-testid="more"
        >
          ⋯
        </button>
      )}
      <button type="button" className="narrow" data-testid="new-chat" onClick={onNewChat}>
        New chat
      </button>
    </header>
  );
}
