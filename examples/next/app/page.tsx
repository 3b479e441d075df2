import { randomUUID } from 'node:crypto';
import { redirect } from 'next/navigation';

/** Each conversation has its own address, so that it survives a reload. */
export default function Page() {
  redirect(`/chat/${randomUUID()}`);
}

export const dynamic = 'force-dynamic';
