import assert from '../node_modules/assert/build/assert.js';
import { isDeepStrictEqual } from '../node_modules/assert/build/internal/util/comparisons.js';
import { setDeepEqual } from './util.js';

setDeepEqual(isDeepStrictEqual);
export default assert;
