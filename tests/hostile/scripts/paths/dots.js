// `..` leads at most to the root, where no file of the host is visible.
// status: completed
// value: []

const seen = [];
for (const path of ['../../../../../../etc/passwd', '/workspace/../../../etc/passwd', '/../../etc/shadow', '/tmp/./../etc/hostname', '/proc/self/environ', '/sys/kernel', '/root/.ssh/id_rsa', '/home', '/dev/mem', '/dev/sda'])
  seen.push(await fs.readFile(path).then(() => path, (error) => error.code));
return seen.filter((code) => code !== 'ENOENT');
