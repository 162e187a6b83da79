// `net`: only its functions without a network. A script has no sockets.
import { codedError } from './util.js';

const isIPv4 = (text) => /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(`${text}`);
const isIPv6 = (text) => /^[\da-f:.]+(?:%[\w.-]+)?$/i.test(`${text}`) && URL.canParse(`http://[${`${text}`.replace(/%.*/, '')}]/`);
const absent = (name) =>
  ({
    [name]() {
      throw codedError(Error, 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM', `net.${name} is not here: a script has no sockets. Use \`fetch\`, or \`http\` and \`https\`, which go through the tool \`http\``);
    },
  })[name];

const net = { isIP: (text) => (isIPv4(text) ? 4 : isIPv6(text) ? 6 : 0), isIPv4, isIPv6 };
for (const name of ['connect', 'createConnection', 'createServer', 'BlockList', 'Server', 'Socket', 'SocketAddress', 'Stream']) net[name] = absent(name);
export default net;
