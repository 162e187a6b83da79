/* git.c, and with it how a child begins, which does what `main` of common-main.c and `cmd_main` do but for `exit`. */
#include "git.c"

#include "attr.h"
#include "trace2.h"

int git_child(int argc, const char **argv)
{
	struct strbuf directory = STRBUF_INIT;
	const char *name;
	struct cmd_struct *builtin;

	trace2_initialize_clock();
	sanitize_stdfds();
	git_resolve_executable_dir(argv[0]);
	setlocale(LC_CTYPE, "");
	initialize_repository(the_repository);
	attr_start();
	trace2_initialize();
	trace2_cmd_start(argv);
	trace2_collect_process_info(TRACE2_PROCESS_INFO_STARTUP);
	if (!strbuf_getcwd(&directory))
		tmp_original_cwd = strbuf_detach(&directory, NULL);

	if (skip_prefix(argv[0], "git-", &name)) {
		argv[0] = name;
	} else {
		argv++;
		argc--;
		handle_options(&argv, &argc, NULL);
	}
	builtin = argc > 0 ? get_builtin(argv[0]) : NULL;
	if (!builtin)
		die("'%s' cannot be run by git itself here", argc > 0 ? argv[0] : "git");
	return run_builtin(builtin, argc, argv, the_repository);
}
