#SBATCH --nodes=2
GPUS=8
ARGS="--num-layers 4 --hidden-size 64 --num-attention-heads 4"
torchrun --nproc_per_node ${GPUS:-8} --nnodes $((1 * 2)) pretrain_gpt.py $ARGS --seq-length 32 --max-position-embeddings 64 \
  --vocab-size 100 --micro-batch-size 1 --global-batch-size 16 --tensor-model-parallel-size 2 --sequence-parallel \
  --pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 1 --bf16 --swiglu --normalization RMSNorm
