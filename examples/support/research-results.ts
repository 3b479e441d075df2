import { z } from 'zod';

/** The tool by which the help desk delegates to the researcher. */
export const RESEARCH_TOOL = 'research';

/** What `searchProducts` returns, best first; prices in dollars. */
export const ProductList = z.object({
  products: z.array(
    z.object({ productId: z.string(), name: z.string(), price: z.number(), about: z.string() }),
  ),
});
export type ProductList = z.infer<typeof ProductList>;

/** What `readReviews` returns; stars from 1 to 5. */
export const ReviewList = z.object({
  productId: z.string(),
  reviews: z.array(z.object({ stars: z.number(), text: z.string() })),
});
export type ReviewList = z.infer<typeof ReviewList>;

/** The result of a research. */
export const Finding = z.object({
  /** Absent if nothing fits. */
  recommended: z.object({ name: z.string(), price: z.number() }).optional(),
  why: z.string(),
  /** Names of what else was looked at. */
  alternatives: z.array(z.string()).default([]),
});
export type Finding = z.infer<typeof Finding>;
