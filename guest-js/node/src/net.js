// `net`: only its functions without a network. A script has no sockets.
import { allAbsent } from './absent.js';

const isIPv4 = (text) => /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/.test(`${text}`);
const isIPv6 = (text) => /^[\da-f:.]+(?:%[\w.-]+)?$/i.test(`${text}`) && URL.canParse(`http://[${`${text}`.replace(/%.*/, '')}]/`);
const net = { isIP: (text) => (isIPv4(text) ? 4 : isIPv6(text) ? 6 : 0), isIPv4, isIPv6 };
const SOCKETS = ['connect', 'createConnection', 'createServer', 'BlockList', 'Server', 'Socket', 'SocketAddress', 'Stream'];
Object.assign(net, allAbsent('net', SOCKETS, 'a script has no sockets. Use `fetch`, or `http` and `https`, which go through the tool `http`'));
export default net;
