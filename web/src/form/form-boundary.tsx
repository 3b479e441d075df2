import { Component, type ReactNode } from 'react';
import { escapeHidden } from './is-shown-by.js';

interface Props {
  value: unknown;
  children: ReactNode;
}

/** Where a form cannot be drawn, the value is shown as it is sent: one question does not take the page away. */
export class FormBoundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true };
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children;
    const json = JSON.stringify(this.props.value, null, 2) as string | undefined;
    return <pre data-testid="plain-input">{escapeHidden(json ?? '')}</pre>;
  }
}
