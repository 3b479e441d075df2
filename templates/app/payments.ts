// A stand-in for a payment provider: writes one line to payments.log per payment.
import { appendFile, readFile } from 'node:fs/promises';

const LOG = process.env.PAYMENTS_LOG ?? 'payments.log';

export interface Payment {
  order: string;
  amount: number;
}

/** Pays once per key, as payment providers do. */
export async function payBack(payment: Payment, key: string): Promise<Payment & { paid: true }> {
  const lines = await readFile(LOG, 'utf8').catch(() => '');
  if (!lines.includes(key)) await appendFile(LOG, `${key} ${JSON.stringify(payment)}\n`);
  return { ...payment, paid: true };
}
