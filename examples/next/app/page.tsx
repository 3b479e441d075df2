import { randomUUID } from 'node:crypto';
import { redirect } from 'next/navigation';

/** A new conversation has an address of its own, so that it survives a reload. */
export default function Page() {
  redirect(`/chat/${randomUUID()}`);
}

export const dynamic = 'force-dynamic';
