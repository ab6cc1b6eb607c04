/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_VERIFIER_LOG_H
#define TOPOOPT_VERIFIER_LOG_H

#include <bpf/libbpf.h>

/*
 * Why the kernel refused a BPF program: libbpf prints that, in the words of the
 * verifier or of a driver, and returns no more than an error number.
 */

/**
 * to_verifier_log_keep() - a libbpf_print_fn_t that keeps the first warning
 *
 * In place of libbpf's own, for as long as programs are loaded and attached.
 */
int to_verifier_log_keep(enum libbpf_print_level level, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));

/** to_verifier_log() - the warning kept, "" for none; of this thread */
const char *to_verifier_log(void);

/** to_verifier_log_forget() - from here on the next one is the first */
void to_verifier_log_forget(void);

#endif
