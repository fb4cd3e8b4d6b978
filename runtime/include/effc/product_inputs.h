/*===- product_inputs.h - What matrices are multiplied by -----------------===*\
 *
 * Names of the inner values (taps.h) of a file that was compiled with effc compile
 * --product-inputs, which effc eval --collect-importance sums up. In a row's order:
 *
 *   NAME:input           [K], or [H,K] of a matrix in H blocks: what the matrix NAME is
 *                        multiplied by; NAME is a tensor's name, or a weight's.
 *                        Several that are multiplied by the same are A|B|C:input.
 *   PART:expert_scores   [E]: of the products that follow, by which number each token
 *                        chooses its experts, the highest first and of equal ones the
 *                        first
 *   NAME:expert_input    [K]: what the matrices NAME of all experts that a token takes
 *                        are multiplied by; or [J,K]: of each of the J that it takes, in
 *                        the order of their scores. Each PART has one with J. Several
 *                        are A|B:expert_input.
 *
\*===---------------------------------------------------------------------===*/
#ifndef EFFC_PRODUCT_INPUTS_H
#define EFFC_PRODUCT_INPUTS_H

#define EFFC_INPUT_SEPARATOR "|"
#define EFFC_INPUT_SUFFIX ":input"
#define EFFC_EXPERT_SCORES_SUFFIX ":expert_scores"
#define EFFC_EXPERT_INPUT_SUFFIX ":expert_input"

#endif /* EFFC_PRODUCT_INPUTS_H */
