// `punycode`, by the package that `url` uses, with the version that Node 20 has.
import punycode from 'punycode';

export default { ...punycode, version: '2.1.0' };
