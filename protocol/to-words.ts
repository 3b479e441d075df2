/** The name of a tool or a field as people read it: `lookupOrder` → `Lookup order`. */
export function toWords(name: string): string {
  const words = name
    .replace(/[_-]+/g, ' ')
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .trim()
    .toLowerCase()
    .replace(/\bid\b/g, 'ID');
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1);
}
