// `Intl.Collator` and `Intl.Segmenter`, with the guest's tables.
import { localeOf, optionOf, warn } from './intl-locales.js';

const { native } = host;

// Languages whose own order of letters is not supported.
const ordered = ['ja', 'zh', 'ko'];
const strengths = { base: 0, accent: 1, case: 2, variant: 3 };

export class Collator {
  #o;
  #native;
  #bound;
  constructor(locales, given, owner = 'Collator') {
    const options = given === undefined ? { __proto__: null } : Object(given);
    const { locale, data, keywords } = localeOf(locales);
    const option = (name, list, standard) => optionOf(options, name, list, standard, owner);
    const usage = option('usage', ['sort', 'search'], 'sort');
    const numeric = options.numeric === undefined ? keywords.kn !== undefined && keywords.kn !== 'false' : Boolean(options.numeric);
    const caseFirst = option('caseFirst', ['upper', 'lower', 'false'], ['upper', 'lower', 'false'].includes(keywords.kf) ? keywords.kf : 'false');
    const sensitivity = option('sensitivity', Object.keys(strengths), 'variant');
    const ignorePunctuation = Boolean(options.ignorePunctuation);
    if (ordered.includes(data.split('-')[0])) warn(`Intl has no order of letters for the locale '${locale}' here: it is that of most languages`);
    if (keywords.co !== undefined || options.collation !== undefined) warn(`Intl has no collation '${options.collation ?? keywords.co}' here: the order is the standard one`);
    const used = [options.numeric === undefined && keywords.kn !== undefined ? `-kn${keywords.kn === 'false' ? '-false' : ''}` : '', options.caseFirst === undefined && keywords.kf === caseFirst ? `-kf-${caseFirst}` : ''].reverse().join('');
    this.#o = { locale: used === '' ? locale : `${locale}-u${used}`, usage, sensitivity, ignorePunctuation, collation: 'default', numeric, caseFirst };
    this.#native = openTable(data.split('-')[0], strengths[sensitivity], numeric, caseFirst, ignorePunctuation);
  }
  get compare() {
    return (this.#bound ??= { '': (a, b) => this.#compare(String(a), String(b)) }['']);
  }
  // The engine treats all halves of surrogate pairs as the same letter.
  #compare(a, b) {
    const order = native.compareTexts(this.#native, a, b);
    if (order !== 0 || a === b || (a.isWellFormed() && b.isWellFormed())) return order;
    return a < b ? -1 : 1;
  }
  resolvedOptions() {
    return { ...this.#o };
  }
}

// Opened collators by their settings. There are few, and opening one is slow.
const tables = new Map();
const openTable = (...wanted) => {
  const key = wanted.join();
  if (!tables.has(key)) tables.set(key, native.openCollator(...wanted));
  return tables.get(key);
};

const granularities = ['grapheme', 'word', 'sentence'];
// Scripts in which ICU finds words with a dictionary.
const withoutSpaces = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
// Boundaries between Korean and other letters, which ICU finds the same way.
const mixedKorean = /\p{Script=Hangul}(?!\p{Script=Hangul})[\p{L}\p{N}_]|(?!\p{Script=Hangul})[\p{L}\p{N}_]\p{Script=Hangul}/u;
const isWord = /[\p{L}\p{N}]|__/u;

class Segments {
  #text;
  #granularity;
  #ends;
  constructor(text, granularity) {
    this.#text = text;
    this.#granularity = granularity;
    if (granularity === 'word' && (withoutSpaces.test(text) || mixedKorean.test(text))) warn('Intl.Segmenter has no dictionary of the words of languages that are written without spaces here');
    this.#ends = native.segmentEnds(text, granularities.indexOf(granularity));
  }
  #entry(at) {
    const index = at === 0 ? 0 : this.#ends[at - 1];
    const segment = this.#text.slice(index, this.#ends[at]);
    const entry = { segment, index, input: this.#text };
    return this.#granularity === 'word' ? { ...entry, isWordLike: isWord.test(segment) } : entry;
  }
  containing(given = 0) {
    const place = Math.trunc(Number(given)) || 0;
    if (place < 0 || place >= this.#text.length) return undefined;
    let [low, high] = [0, this.#ends.length - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#ends[middle] > place) high = middle;
      else low = middle + 1;
    }
    return this.#entry(low);
  }
  *[Symbol.iterator]() {
    for (let at = 0; at < this.#ends.length; at++) yield this.#entry(at);
  }
}

export class Segmenter {
  #o;
  constructor(locales, given) {
    const options = given === undefined ? { __proto__: null } : given;
    if (typeof options !== 'object' || options === null) throw new TypeError('Cannot convert undefined or null to object');
    const { locale } = localeOf(locales);
    this.#o = { locale, granularity: optionOf(options, 'granularity', granularities, 'grapheme', 'Segmenter') };
  }
  segment(input) {
    return new Segments(String(input), this.#o.granularity);
  }
  resolvedOptions() {
    return { ...this.#o };
  }
}
