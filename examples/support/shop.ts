/** An order of the help desk's small shop; amounts in dollars. */

export interface Order {
  readonly orderId: string;
  readonly item: string;
  readonly total: number;
  readonly status: 'packed' | 'in transit' | 'delivered' | 'cancelled';
  /** Location of the parcel, in words for a customer. */
  readonly detail: string;
}

type OrderLine = [orderId: string, item: string, total: number, Order['status'], detail: string];

const ORDERS: readonly Order[] = (
  [
    ['1042', 'a ceramic pour-over coffee set', 48.5, 'delivered', 'It is with the front desk'],
    ['1043', 'a linen duvet cover', 129, 'in transit', 'It should arrive within two days'],
    ['1044', 'two walnut picture frames', 64.8, 'packed', 'It waits for the evening pick-up'],
    ['1045', 'a cast-iron skillet', 39.9, 'cancelled', 'Nothing was charged'],
  ] satisfies OrderLine[]
).map(([orderId, item, total, status, detail]) => ({ orderId, item, total, status, detail }));

/** All order numbers, for suggestions. */
export const ORDER_IDS: readonly string[] = ORDERS.map(({ orderId }) => orderId);

/** An order number for examples. */
export const EXAMPLE_ORDER_ID = '1042';

/** Finds an order by number; ignores a leading `#`. */
export function findOrder(orderId: string): Order | undefined {
  const wanted = orderId.trim().replace(/^#/, '');
  return ORDERS.find((order) => order.orderId === wanted);
}

/** A page of the help centre. */
export interface Article {
  readonly title: string;
  readonly body: string;
}

const ARTICLES = [
  {
    title: 'Delivery times',
    keywords: 'delivery deliver shipping ship arrive long days parcel',
    body: 'Standard delivery takes three to five working days, express delivery one to two. As soon as the carrier has the parcel you get a tracking link.',
  },
  {
    title: 'Returns',
    keywords: 'return send back exchange wrong size label',
    body: 'You can return anything within thirty days, free of charge: print the label from your order page and hand the box in at any parcel shop.',
  },
  {
    title: 'Damaged or faulty items',
    keywords: 'damaged broken faulty crack cracked warranty defect',
    body: 'You may choose between a replacement, which we send at once, and a refund of the full price. Tell us the order number to begin.',
  },
  {
    title: 'Payment and invoices',
    keywords: 'pay payment invoice card receipt billing charged tax',
    body: 'Your card is charged when the parcel leaves the warehouse, never before. The invoice is on your order page from then on.',
  },
];

/** A product of the shop. */
export interface Product {
  readonly productId: string;
  readonly name: string;
  readonly price: number;
}

/** A customer's review; stars from 1 to 5. */
export interface Review {
  readonly stars: number;
  readonly text: string;
}

const PRODUCTS: readonly (Product & { keywords: string; reviews: readonly Review[] })[] = [
  {
    productId: 'coffee-set',
    name: 'Ceramic pour-over coffee set',
    price: 48.5,
    keywords: 'coffee filter brew gift present kitchen',
    reviews: [
      { stars: 5, text: 'The coffee is better than from my machine.' },
      { stars: 5, text: 'A present that was used the same day.' },
    ],
  },
  {
    productId: 'moka-pot',
    name: 'Steel moka pot',
    price: 34,
    keywords: 'coffee espresso brew gift present kitchen induction',
    reviews: [
      { stars: 4, text: 'Strong coffee, and it works on induction.' },
      { stars: 3, text: 'The handle gets warm.' },
    ],
  },
  {
    productId: 'skillet',
    name: 'Cast-iron skillet',
    price: 39.9,
    keywords: 'pan skillet cook cooking kitchen induction gift present',
    reviews: [
      { stars: 5, text: 'Best steak that I ever made.' },
      { stars: 4, text: 'Heavy, but that is the point.' },
    ],
  },
];

/** Finds products for a wish and a budget, best first. */
export function findProducts(wish: string, max = Infinity): Product[] {
  const fitting = byHits(
    PRODUCTS.filter(({ price }) => price <= max),
    wish,
  );
  return fitting.map(({ productId, name, price }) => ({ productId, name, price }));
}

/** Returns a product's reviews; undefined if there is no such product. */
export function findReviews(productId: string): readonly Review[] | undefined {
  return PRODUCTS.find((product) => product.productId === productId)?.reviews;
}

/** Finds at most two articles for a question, best first. */
export function findArticles(query: string): Article[] {
  return byHits(ARTICLES, query)
    .slice(0, 2)
    .map(({ title, body }) => ({ title, body }));
}

function byHits<T extends { keywords: string }>(all: readonly T[], text: string): T[] {
  const words = new Set(text.toLowerCase().match(/[a-z]+/g));
  return all
    .map((each) => ({ each, hits: each.keywords.split(' ').filter((w) => words.has(w)).length }))
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .map(({ each }) => each);
}
