/** An order of the little shop that the help desk works for; amounts in dollars. */
export interface Order {
  readonly orderId: string;
  readonly item: string;
  readonly total: number;
  readonly status: 'packed' | 'in transit' | 'delivered' | 'cancelled';
  /** Where the parcel is, in words for a customer. */
  readonly detail: string;
}

const orders: readonly Order[] = [
  {
    orderId: '1042',
    item: 'a ceramic pour-over coffee set',
    total: 48.5,
    status: 'delivered',
    detail: 'The parcel was left with the front desk on Tuesday morning',
  },
  {
    orderId: '1043',
    item: 'a linen duvet cover in moss green',
    total: 129,
    status: 'in transit',
    detail: 'It left the sorting centre last night and should arrive within two days',
  },
  {
    orderId: '1044',
    item: 'two walnut picture frames',
    total: 64.8,
    status: 'packed',
    detail: 'The box is sealed and waits for the evening pick-up',
  },
  {
    orderId: '1045',
    item: 'a cast-iron skillet',
    total: 39.9,
    status: 'cancelled',
    detail: 'It was cancelled before it left the warehouse, and nothing was charged',
  },
];

/** The order of that number; a leading `#` is no part of it. */
export function findOrder(orderId: string): Order | undefined {
  const wanted = orderId.trim().replace(/^#/, '');
  return orders.find((order) => order.orderId === wanted);
}

/** All numbers, for a help desk that shows what to try. */
export const ORDER_IDS: readonly string[] = orders.map(({ orderId }) => orderId);

/** The number to show where one is enough. */
export const EXAMPLE_ORDER_ID = '1042';
