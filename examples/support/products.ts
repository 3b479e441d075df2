/** A thing that the little shop sells; price in dollars. */
export interface Product {
  readonly productId: string;
  readonly name: string;
  readonly price: number;
  readonly about: string;
}

interface Listed extends Product {
  readonly keywords: readonly string[];
  readonly reviews: readonly Review[];
}

/** What a customer wrote; stars from 1 to 5. */
export interface Review {
  readonly stars: number;
  readonly text: string;
}

const products: readonly Listed[] = [
  {
    productId: 'coffee-set',
    name: 'Ceramic pour-over coffee set',
    price: 48.5,
    about: 'A dripper and a jug for four cups, glazed by hand',
    keywords: ['coffee', 'filter', 'brew', 'gift', 'present', 'kitchen'],
    reviews: [
      { stars: 5, text: 'The coffee is better than from my machine.' },
      { stars: 5, text: 'A present that was used the same day.' },
      { stars: 4, text: 'Lovely. The jug could keep warm for longer.' },
    ],
  },
  {
    productId: 'moka-pot',
    name: 'Steel moka pot',
    price: 34,
    about: 'Strong coffee for three cups, for every kind of stove',
    keywords: ['coffee', 'espresso', 'brew', 'gift', 'present', 'kitchen', 'induction'],
    reviews: [
      { stars: 4, text: 'Strong coffee, and it works on induction.' },
      { stars: 3, text: 'The handle gets warm.' },
    ],
  },
  {
    productId: 'skillet',
    name: 'Cast-iron skillet',
    price: 39.9,
    about: 'Ten inches, seasoned, made to outlive its owner',
    keywords: ['pan', 'skillet', 'cook', 'cooking', 'kitchen', 'induction', 'gift', 'present'],
    reviews: [
      { stars: 5, text: 'Best steak that I ever made.' },
      { stars: 4, text: 'Heavy, but that is the point.' },
    ],
  },
  {
    productId: 'duvet-cover',
    name: 'Linen duvet cover',
    price: 129,
    about: 'Washed linen in moss green, cool in summer and warm in winter',
    keywords: ['bed', 'bedroom', 'sleep', 'linen', 'duvet', 'cover'],
    reviews: [
      { stars: 5, text: 'I sleep better, honestly.' },
      { stars: 4, text: 'Needs a wash or two to get soft.' },
    ],
  },
  {
    productId: 'picture-frames',
    name: 'Walnut picture frames, two of them',
    price: 64.8,
    about: 'Solid walnut, with glass that does not mirror',
    keywords: ['picture', 'photo', 'frame', 'frames', 'wall', 'gift', 'present', 'living'],
    reviews: [
      { stars: 5, text: 'They make any photo look important.' },
      { stars: 5, text: 'A gift to my parents. They cried.' },
    ],
  },
];

/** Products that fit a wish and a budget, best first, at most three. */
export function findProducts(wish: string, most = Infinity): Product[] {
  const words = new Set(wish.toLowerCase().match(/[a-z]+/g));
  return products
    .filter(({ price }) => price <= most)
    .map((product) => ({
      product,
      hits: product.keywords.filter((keyword) => words.has(keyword)).length,
    }))
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .slice(0, 3)
    .map(({ product: { productId, name, price, about } }) => ({ productId, name, price, about }));
}

/** Reviews of a product; undefined if there is no product of that id. */
export function findReviews(productId: string): readonly Review[] | undefined {
  return products.find((product) => product.productId === productId)?.reviews;
}
