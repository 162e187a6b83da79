// Plural categories by the rules of the CLDR, and `Intl.PluralRules`.
import { decimalOf, digitOptions, resolvedDigits, roundedBy } from './intl-digits.js';
import { dataOf, localeOf, optionOf } from './intl-locales.js';

// Returns the operands of the rules: `n` is the number, `i` its integer part, `v` and `f` the count and the value of
// its decimals, `t` the decimals without trailing zeros, `e` the exponent of a compact number.
export const operands = (whole, part, power = 0) => ({
  n: Number(part === '' ? whole : `${whole}.${part}`),
  // The rules depend on the last digits only.
  i: Number(whole.length > 15 ? `1${whole.slice(-12)}` : whole),
  v: part.length, f: Number(part || 0), t: Number(part.replace(/0+$/, '') || 0), e: power,
});

const isIn = (number, low, high) => Number.isInteger(number) && number >= low && number <= high;
const never = () => 'other';
const single = ({ n }) => (n === 1 ? 'one' : 'other');
const exact = ({ i, v }) => (i === 1 && v === 0 ? 'one' : 'other');
const isMillions = ({ i, v, e }) => (e === 0 && i !== 0 && i % 1e6 === 0 && v === 0) || !isIn(e, 0, 5);
// Rule of Romance languages, in which multiples of a million have a category of their own.
const romance = (isOne) => (o) => (isOne(o) ? 'one' : isMillions(o) ? 'many' : 'other');
const slavic = ({ i, v }) => {
  if (v !== 0) return 'other';
  if (i % 10 === 1 && i % 100 !== 11) return 'one';
  return isIn(i % 10, 2, 4) && !isIn(i % 100, 12, 14) ? 'few' : 'many';
};
const polish = (o) => {
  const { i, v } = o;
  if (i === 1 && v === 0) return 'one';
  return v !== 0 ? 'other' : isIn(i % 10, 2, 4) && !isIn(i % 100, 12, 14) ? 'few' : 'many';
};
const arabic = ({ n }) => {
  if (n <= 2 && Number.isInteger(n)) return ['zero', 'one', 'two'][n];
  return isIn(n % 100, 3, 10) ? 'few' : isIn(n % 100, 11, 99) ? 'many' : 'other';
};
const all = ['few', 'many', 'one', 'two', 'zero', 'other'];
const cardinals = {
  en: ['one other', exact], de: ['one other', exact], nl: ['one other', exact], sv: ['one other', exact],
  nb: ['one other', single], tr: ['one other', single], hu: ['one other', single],
  da: ['one other', ({ n, i, t }) => (n === 1 || (t !== 0 && i <= 1) ? 'one' : 'other')],
  fr: ['one many other', romance(({ i }) => i <= 1)],
  pt: ['one many other', romance(({ i }) => i <= 1)],
  'pt-PT': ['one many other', romance(({ i, v }) => i === 1 && v === 0)],
  es: ['one many other', romance(({ n }) => n === 1)],
  it: ['one many other', romance(({ i, v }) => i === 1 && v === 0)],
  hi: ['one other', ({ n, i }) => (i === 0 || n === 1 ? 'one' : 'other')],
  ru: ['one few many other', slavic], uk: ['one few many other', slavic], pl: ['one few many other', polish],
  cs: ['one few many other', ({ i, v }) => (v !== 0 ? 'many' : i === 1 ? 'one' : isIn(i, 2, 4) ? 'few' : 'other')],
  ro: ['one few other', ({ n, i, v }) => (i === 1 && v === 0 ? 'one' : v !== 0 || n === 0 || (n !== 1 && isIn(n % 100, 1, 19)) ? 'few' : 'other')],
  he: ['one two other', ({ i, v }) => ((i === 1 && v === 0) || (i === 0 && v !== 0) ? 'one' : i === 2 && v === 0 ? 'two' : 'other')],
  ar: ['zero one two few many other', arabic],
};
for (const language of ['ja', 'zh', 'ko', 'id', 'vi']) cardinals[language] = ['other', never];
const ordinals = {
  en: ['one two few other', ({ n }) => (n % 10 === 1 && n % 100 !== 11 ? 'one' : n % 10 === 2 && n % 100 !== 12 ? 'two' : n % 10 === 3 && n % 100 !== 13 ? 'few' : 'other')],
  fr: ['one other', single], vi: ['one other', single], ro: ['one other', single],
  it: ['many other', ({ n }) => ([8, 11, 80, 800].includes(n) ? 'many' : 'other')],
  hu: ['one other', ({ n }) => (n === 1 || n === 5 ? 'one' : 'other')],
  sv: ['one other', ({ n }) => ([1, 2].includes(n % 10) && ![11, 12].includes(n % 100) ? 'one' : 'other')],
  uk: ['few other', ({ n }) => (n % 10 === 3 && n % 100 !== 13 ? 'few' : 'other')],
  hi: ['one two few many other', ({ n }) => (n === 1 ? 'one' : n === 2 || n === 3 ? 'two' : n === 4 ? 'few' : n === 6 ? 'many' : 'other')],
};
const none = ['other', never];

const ruleOf = (data, type) => {
  const language = data.split('-')[0];
  return type === 'ordinal' ? (ordinals[language] ?? none) : (cardinals[data] ?? cardinals[language]);
};
// Returns a function that maps operands to the category of a cardinal.
export const cardinalRule = (data) => ruleOf(data, 'cardinal')[1];

export class PluralRules {
  #o;
  #rule;
  constructor(locales, given) {
    const options = given === undefined ? { __proto__: null } : Object(given);
    const { locale, data } = localeOf(locales);
    const type = optionOf(options, 'type', ['cardinal', 'ordinal'], 'cardinal', 'PluralRules');
    // The rules are those of the language, and in one case those of the region.
    this.#o = { locale: locale === 'pt-PT' ? locale : locale.split('-')[0], data, type, digits: digitOptions(options, 0, 3, false, 'PluralRules') };
    this.#rule = ruleOf(data, type);
  }
  #category(given) {
    const number = decimalOf(Number(given));
    if (number.special !== undefined) return 'other';
    const { whole, part } = roundedBy(number, this.#o.digits);
    return this.#rule[1](operands(whole, part));
  }
  select(number) {
    return this.#category(number);
  }
  selectRange(from, to) {
    if (from === undefined || to === undefined) throw new TypeError('Invalid argument');
    if (Number.isNaN(Number(from)) || Number.isNaN(Number(to))) throw new RangeError('Invalid argument');
    const [first, last] = [this.#category(from), this.#category(to)];
    if (Number(from) === Number(to)) return last;
    return dataOf(this.#o.data, 'words').plurals[`${first} ${last}`] ?? last;
  }
  resolvedOptions() {
    const { locale, type, digits } = this.#o;
    const pluralCategories = all.filter((category) => this.#rule[0].split(' ').includes(category));
    return { locale, type, ...resolvedDigits(digits), pluralCategories };
  }
}
