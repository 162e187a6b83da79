class Tollhouse < Formula
  desc "Runs the code that AI agents write, with tools behind one capability gate"
  homepage "@REPOSITORY@"
  url "@FROM@/tollhouse-@VERSION@-x86_64-linux.tar.gz"
  version "@VERSION@"
  sha256 "@SHA256_X86_64_LINUX@"
  license any_of: ["MIT", "Apache-2.0"]

  # No binary for macOS is tested yet.
  depends_on arch: :x86_64
  depends_on :linux

  def install
    bin.install "bin/tollhouse"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/tollhouse"
    fish_completion.install "share/fish/vendor_completions.d/tollhouse.fish"
    zsh_completion.install "share/zsh/site-functions/_tollhouse"
  end

  test do
    assert_equal "42\n", shell_output("#{bin}/tollhouse run -e 'return 6 * 7'")
  end
end
