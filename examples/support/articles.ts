/** A page of the help centre. */
export interface Article {
  readonly title: string;
  readonly body: string;
}

const articles: readonly (Article & { readonly keywords: readonly string[] })[] = [
  {
    title: 'Delivery times',
    keywords: ['delivery', 'deliver', 'shipping', 'ship', 'arrive', 'long', 'days', 'parcel'],
    body:
      'Parcels leave our warehouse within one working day. Standard delivery takes three to five ' +
      'working days, express delivery one to two. As soon as the carrier has scanned the parcel ' +
      'you get a message with a tracking link. If the tracking has not moved for five days, tell ' +
      'us, and we will ask the carrier and send a replacement if the parcel cannot be found.',
  },
  {
    title: 'Returns',
    keywords: ['return', 'send', 'back', 'exchange', 'wrong', 'size', 'label'],
    body:
      'You can return anything within thirty days of delivery, unused and in its packaging. ' +
      'Print the label from your order page, put it on the box, and hand the box in at any parcel ' +
      'shop. Returns are free of charge. Your money is on its way as soon as the box has been ' +
      'scanned, which is usually the day you hand it in; your bank may need three more days.',
  },
  {
    title: 'Damaged or faulty items',
    keywords: ['damaged', 'broken', 'faulty', 'crack', 'cracked', 'warranty', 'defect'],
    body:
      'We are sorry when something arrives damaged. Keep the packaging and take a photo if you ' +
      'can. You may choose between a replacement, which we send at once and without waiting for ' +
      'the old item, and a refund of the full price. Faults that appear later are covered for two ' +
      'years, whether or not you still have the receipt. Tell us the order number to begin.',
  },
  {
    title: 'Payment and invoices',
    keywords: ['pay', 'payment', 'invoice', 'card', 'receipt', 'billing', 'charged', 'tax'],
    body:
      'We take cards, bank transfers and gift cards. Your card is charged when the parcel leaves ' +
      'the warehouse, never before. The invoice is on your order page, as a document to print, ' +
      'from the moment of shipping. If you see two charges for one order, the second is a ' +
      'reservation by your bank and disappears within a week.',
  },
  {
    title: 'Changing an order or its address',
    keywords: ['change', 'address', 'cancel', 'edit', 'modify', 'wrong'],
    body:
      'An order can be changed until it is packed, which takes about two hours on a working day. ' +
      'Open the order page and choose "Change" to correct the address, add a line or cancel. Once ' +
      'the box is sealed we can no longer reach into it; you can then refuse the parcel at the ' +
      'door, and we treat it as a return that costs you nothing.',
  },
];

/** The articles that fit a question best, at most two, best first. */
export function findArticles(query: string): Article[] {
  const words = new Set(query.toLowerCase().match(/[a-z]+/g));
  return articles
    .map(({ title, body, keywords }) => ({
      article: { title, body },
      hits: keywords.filter((keyword) => words.has(keyword)).length,
    }))
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .slice(0, 2)
    .map(({ article }) => article);
}
