/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TOPOOPT_DNN_MODEL_H
#define TOPOOPT_DNN_MODEL_H

/* A model as a graph of operators, and the GPUs that train it: model.json. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/cluster.h"

/**
 * enum to_operator_type - how an operator reads its parameters
 * @TO_OPERATOR_EMBEDDING: a table of rows; reads one row per sample
 *
 * All other types read all of their parameters once per pass.
 */
enum to_operator_type {
	TO_OPERATOR_EMBEDDING,
	TO_OPERATOR_DENSE,
	TO_OPERATOR_ATTENTION,
	TO_OPERATOR_CONVOLUTION,
	TO_OPERATOR_OTHER,
};

/**
 * struct to_operator - one operator of a model
 * @flops: floating-point operations of the forward pass per sample
 * @parameter_bytes: of all its parameters
 * @output_bytes: of its result per sample
 * @inputs: indices of the operators whose results it takes
 */
struct to_operator {
	char name[TO_NAME_MAX];
	enum to_operator_type type;
	uint64_t flops, parameter_bytes, output_bytes;
	unsigned int n_inputs;
	uint32_t *inputs;
};

/**
 * struct to_accelerator - the GPUs of a server, as one roofline
 * @gpus: per server; the links between them are assumed to cost nothing
 * @flops: peak of one GPU, operations per second
 * @efficiency: share of the peak that is reached
 * @memory_bandwidth: of one GPU, bytes per second
 * @memory_bytes: of one GPU, for parameters
 *
 * By default four A100 of 80 GB with TF32 at half of the peak: TopoOpt section
 * 5.1, and NVIDIA's data sheet.
 */
struct to_accelerator {
	unsigned int gpus;
	double flops, efficiency, memory_bandwidth;
	uint64_t memory_bytes;
};

/**
 * struct to_dnn_model - what is trained
 * @batch_per_gpu: samples per GPU and iteration
 * @backward: ratio of the backward pass's time to the forward pass's
 * @order: indices of the operators, each after its inputs
 */
struct to_dnn_model {
	char name[TO_NAME_MAX];
	unsigned int batch_per_gpu;
	double backward;
	struct to_accelerator device;
	unsigned int n_operators;
	struct to_operator *operators;
	uint32_t *order;
};

struct to_dnn_model *to_dnn_model_load(const char *path, struct to_error *err);

/** to_dnn_model_parse() - model.json from memory; @name is for errors */
struct to_dnn_model *to_dnn_model_parse(const char *data, size_t len, const char *name,
					struct to_error *err);
void to_dnn_model_free(struct to_dnn_model *model);

/**
 * to_dnn_model_seconds() - forward pass of an operator on one server
 * @samples: of the iteration that the server computes
 * @part: of the operator's parameters and of its result, 0..1
 *
 * A roofline: the slower of arithmetic, and of memory for the parameters, the
 * inputs and the result.
 */
double to_dnn_model_seconds(const struct to_dnn_model *model, uint32_t op, double samples,
			    double part);

#endif
